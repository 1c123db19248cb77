#include "refine/normals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "core/eigen.hpp"
#include "refine/normal_step.hpp"

namespace recon {
namespace {

constexpr double kDegrees = 57.29577951308232;

double angle(Vec3f found, Vec3d expected) {
  return kDegrees * std::acos(std::clamp(dot(widened(found), expected), -1.0, 1.0));
}

/// The depths of the plane n . X = n . origin, each times what `noise` returns.
Image<float> plane_depth(const Pinhole& camera, Vec3d n, Vec3d origin, const std::function<double()>& noise) {
  Image<float> depth(camera.width, camera.height);
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x)
      depth(x, y) = static_cast<float>(noise() * dot(n, origin) / dot(n, camera.ray(pixel_centre(x, y))));
  return depth;
}

double exactly() {
  return 1;
}

TEST(NormalsFromDepth, AreExactOnAPlane) {
  const Pinhole camera{60, 40, 70, 90, 31, 18};
  const Vec3d n = normalized(Vec3d{0.4, -0.3, -1.0});
  Image<float> depth = plane_depth(camera, n, {0, 0, 2}, exactly);
  depth(30, 20) = kUnknown;
  depth(31, 20) *= 1.5f;
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) {
      if (y == 20 && (x == 30 || x == 31)) continue;
      EXPECT_NEAR(norm(widened(normals(x, y)) - n), 0.0, 1e-4) << x << " " << y;
    }
  EXPECT_TRUE(std::isnan(normals(30, 20).x));
  EXPECT_TRUE(std::isnan(normals(31, 20).x)) << "a lone depth has no surface around it";
}

TEST(NormalsFromDepth, HaveLittleOfTheNoiseOfDepths) {
  const Pinhole camera{150, 120, 500, 500, 75, 60};
  const Vec3d n = normalized(Vec3d{0.3, 0.2, -1.0});
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 0.002);
  const Image<float> depth = plane_depth(camera, n, {0, 0, 2}, [&] { return noise(random); });
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  std::vector<double> angles;
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x) angles.push_back(angle(normals(x, y), n));
  std::sort(angles.begin(), angles.end());
  EXPECT_LT(angles[angles.size() / 2], 1.5) << "windows of 7 x 7 pixels: 4.4";
  EXPECT_LT(angles[angles.size() * 99 / 100], 8);
}

TEST(NormalsFromDepth, DifferOnTheSidesOfARoofAndOfAStep) {
  const Pinhole camera{120, 80, 300, 300, 60, 40};
  const Vec3d left = normalized(Vec3d{-0.6, 0.1, -1.0}), right = normalized(Vec3d{0.6, 0.1, -1.0});
  std::mt19937 random(4);
  std::normal_distribution<double> noise(1, 0.0002);
  const auto noisy = [&] { return noise(random); };
  for (const double step : {1.0, 1.1}) {
    Image<float> depth = plane_depth(camera, left, {0, 0, 2}, noisy);
    const Image<float> other = plane_depth(camera, right, {0, 0, 2 * step}, noisy);
    for (int y = 0; y < camera.height; ++y) std::copy_n(other.row(y) + 60, 60, depth.row(y) + 60);
    const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
    const int away = step > 1 ? 0 : 4;  // pixels between a roof's ridge and normals that are not judged
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x) {
        if (std::abs(x + 0.5 - 60) < away) continue;
        EXPECT_LT(angle(normals(x, y), x < 60 ? left : right), 6) << x << " " << y << " step " << step;
      }
  }
}

/// An affine function (u, v) -> p0 u + p1 v + p2 of inverse depth.
struct Fit {
  Eigen::Vector3d plane;
  double variance = 0, spread = 0;
};

/// The normals of a depth map as normals_from_depth describes them, by a decomposition for each window.
class Textbook {
 public:
  Textbook(ImageView<const float> depth, const Pinhole& camera) : depth_(depth), camera_(camera) {}

  /// NaN where unknown, nothing where rounding decides.
  std::optional<Vec3d> normal(int x, int y) {
    x_ = x, y_ = y, close_ = false;
    const double middle = inverse(0, 0);
    std::vector<std::pair<double, Fit>> fits;  // with their radii
    Fit base{{0, 0, middle}};
    for (const auto& [cells, stride] : {std::pair{3, 1}, {2, 3}, {2, 6}, {2, 12}}) {
      const double limit = stride == 1
                               ? 0.03 * middle
                               : std::min(0.03 * middle, 3 * std::sqrt(base.variance) + 0.001 * middle);
      const std::optional<Fit> found = fit(cells, stride, base, limit);
      if (stride == 1 && !found) return Vec3d{kUnknown, kUnknown, kUnknown};
      if (stride == 3 && found) noise_ = 0.5 * (base.variance + 0.7 * found->variance);
      if (stride == 3 && !found) noise_ = base.variance;
      if (!found) continue;
      fits.emplace_back(cells * stride, *found);
      base = *found;
    }
    if (close_) return std::nullopt;
    return normal_of(mean(fits, middle));
  }

 private:
  double inverse(int u, int v) const {
    const bool inside = x_ + u >= 0 && x_ + u < camera_.width && y_ + v >= 0 && y_ + v < camera_.height;
    return inside ? 1 / static_cast<double>(depth_(x_ + u, y_ + v)) : std::nan("");
  }

  std::optional<Fit> fit(int cells, int stride, const Fit& base, double limit) {
    std::vector<Eigen::Vector4d> pixels;
    for (int v = -cells * stride; v <= cells * stride; v += stride)
      for (int u = -cells * stride; u <= cells * stride; u += stride) {
        const double distance = std::abs(inverse(u, v) - base.plane.dot(Eigen::Vector3d(u, v, 1)));
        close_ |= std::abs(distance - limit) < 2e-6 * inverse(0, 0);
        if (distance <= limit) pixels.emplace_back(u, v, 1, inverse(u, v));
      }
    Eigen::MatrixXd system(static_cast<Eigen::Index>(pixels.size()), 3);
    Eigen::VectorXd values(system.rows());
    for (Eigen::Index i = 0; i < system.rows(); ++i) {
      system.row(i) = pixels[static_cast<std::size_t>(i)].head<3>();
      values(i) = pixels[static_cast<std::size_t>(i)](3);
    }
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(system);
    if (pixels.size() < 6 || qr.rank() < 3) return std::nullopt;
    Fit result{qr.solve(values)};
    result.variance = (system * result.plane - values).squaredNorm() / static_cast<double>(pixels.size() - 3);
    const Eigen::Matrix3d covariance = (system.transpose() * system).inverse();
    result.spread = covariance(0, 0) + covariance(1, 1);
    return result;
  }

  Eigen::Vector3d mean(const std::vector<std::pair<double, Fit>>& fits, double middle) const {
    const auto error = [&](const std::pair<double, Fit>& it) {
      return noise_ * it.second.spread + 5e-5 * it.first * std::pow(middle / camera_.fx, 2);
    };
    Eigen::Vector3d sum(0, 0, 0);
    double weights = 0;
    for (const auto& it : fits) {
      const double weight = std::pow(error(fits[0]) / error(it), 4);
      sum += weight * it.second.plane, weights += weight;
    }
    return sum / weights;
  }

  /// From two directions within the plane, between its points at three pixels.
  Vec3d normal_of(const Eigen::Vector3d& plane) const {
    const auto point = [&](double u, double v) {
      return (1 / plane.dot(Eigen::Vector3d(u, v, 1))) * camera_.ray({x_ + 0.5 + u, y_ + 0.5 + v});
    };
    const Vec3d origin = point(0, 0);
    const Vec3d n = normalized(cross(point(0.1, 0) - origin, point(0, 0.1) - origin));
    return dot(n, origin) > 0 ? -1.0 * n : n;
  }

  ImageView<const float> depth_;
  Pinhole camera_;
  int x_ = 0, y_ = 0;
  bool close_ = false;  ///< whether a pixel lies within rounding of a limit
  double noise_ = 0;
};

/// Two surfaces with an edge between them, unknown pixels, and a part where few are known.
Image<float> noisy_depth(const Pinhole& camera) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> noise(-0.006f, 0.006f), share(0, 1);
  Image<float> depth(camera.width, camera.height);
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x) {
      const float surface =
          x + y < 90 ? 2 + 0.01f * static_cast<float>(x) : 4 - 0.012f * static_cast<float>(y);
      depth(x, y) = surface * (1 + noise(random));
      if (share(random) < (x > 110 ? 0.85f : 0.1f)) depth(x, y) = kUnknown;
    }
  return depth;
}

TEST(NormalsFromDepth, AreThoseOfTheTextbook) {
  const Pinhole camera{150, 71, 90, 85, 70.3, 40.8};
  const Image<float> depth = noisy_depth(camera);
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  Textbook textbook(depth.view(), camera);
  int known = 0, unknown = 0, skipped = 0;
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x) {
      const std::optional<Vec3d> expected = textbook.normal(x, y);
      if (!expected) {
        ++skipped;
        continue;
      }
      EXPECT_EQ(std::isnan(normals(x, y).x), std::isnan(expected->x)) << x << " " << y;
      (std::isnan(expected->x) ? unknown : known)++;
      if (!std::isnan(expected->x)) {
        EXPECT_NEAR(norm(widened(normals(x, y)) - *expected), 0.0, 1e-4) << x << " " << y;
      }
    }
  EXPECT_GT(known, 6000);
  EXPECT_GT(unknown, 2000);
  EXPECT_LT(skipped, 500);
}

TEST(NormalsFromDepth, AreThoseOfTheStep) {
  for (const auto& [width, height] : {std::array{150, 71}, {61, 97}, {1, 1}, {50, 1}, {2, 40}, {7, 5}}) {
    const Pinhole camera{width, height, 90, 85, 70.3, 40.8};
    const Image<float> depth = noisy_depth(camera);
    const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x) {
        const auto inverse_depth = [&](int dx, int dy) {
          const bool inside = x + dx >= 0 && x + dx < camera.width && y + dy >= 0 && y + dy < camera.height;
          return 1.0f / (inside ? depth(x + dx, y + dy) : kUnknown);
        };
        const Vec3f expected = normal_step(camera, x, y, inverse_depth), found = normals(x, y);
        ASSERT_EQ(std::isnan(found.x), std::isnan(expected.x)) << x << " " << y;
        if (std::isnan(expected.x)) continue;
        ASSERT_TRUE(found.x == expected.x && found.y == expected.y && found.z == expected.z) << x << " " << y;
      }
  }
}

}  // namespace
}  // namespace recon

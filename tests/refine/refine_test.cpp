#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "refine/depth_filters.hpp"
#include "refine/normal_step.hpp"
#include "refine/normals.hpp"
#include "refine/subplane_step.hpp"

namespace recon {
namespace {

TEST(ParabolaOffset, FindsTheVertexOfAParabola) {
  // c(t) = (t - 0.3)^2 + 1 at t = -1, 0, 1.
  EXPECT_NEAR(parabola_offset(2.69f, 1.09f, 1.49f), 0.3f, 1e-6f);
  EXPECT_EQ(parabola_offset(2, 1, 2), 0.0f);
  EXPECT_EQ(parabola_offset(1, 1, 1), 0.0f);
  EXPECT_EQ(parabola_offset(1, 1, 9), -0.5f);
  EXPECT_EQ(parabola_offset(invalid_cost(), 1, 2), 0.0f);
  EXPECT_EQ(parabola_offset(2, 1, invalid_cost()), 0.0f);
}

TEST(NormalsFromDepth, AreExactOnAPlane) {
  const Pinhole camera{60, 40, 70, 90, 31, 18};
  const Vec3d n = normalized(Vec3d{0.4, -0.3, -1.0});
  Image<float> depth(60, 40);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x)
      depth(x, y) = static_cast<float>(dot(n, Vec3d{0, 0, 2}) / dot(n, camera.ray(pixel_centre(x, y))));
  depth(30, 20) = kUnknown;
  depth(31, 20) *= 1.5f;
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) {
      if (y == 20 && (x == 30 || x == 31)) continue;
      const Vec3f f = normals(x, y);
      EXPECT_NEAR(norm(Vec3d{f.x, f.y, f.z} - n), 0.0, 1e-4) << x << " " << y;
    }
  EXPECT_TRUE(std::isnan(normals(30, 20).x));
  EXPECT_TRUE(std::isnan(normals(31, 20).x)) << "a lone depth has no surface around it";
}

/// The normal of the plane a u + b v + c of inverse depth that fits the 7 x 7 window of a pixel best, by a
/// decomposition of the system; NaN for fewer than six pixels of the same surface or pixels on a line.
Vec3d fitted_normal(ImageView<const float> depth, const Pinhole& camera, int x, int y) {
  const auto inverse = [&](int column, int row) { return 1 / static_cast<double>(depth(column, row)); };
  std::vector<std::array<double, 3>> pixels;
  for (int row = std::max(y - 3, 0); row <= std::min(y + 3, depth.height - 1); ++row)
    for (int column = std::max(x - 3, 0); column <= std::min(x + 3, depth.width - 1); ++column)
      if (std::abs(inverse(column, row) - inverse(x, y)) <= 0.03 * inverse(x, y))
        pixels.push_back({column - x + 0.0, row - y + 0.0, inverse(column, row)});
  Eigen::MatrixXd system(static_cast<Eigen::Index>(pixels.size()), 3);
  Eigen::VectorXd values(system.rows());
  for (Eigen::Index i = 0; i < system.rows(); ++i) {
    const auto& [u, v, w] = pixels[static_cast<std::size_t>(i)];
    system.row(i) << u, v, 1.0;
    values(i) = w;
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(system);
  if (pixels.size() < 6 || qr.rank() < 3) return {kUnknown, kUnknown, kUnknown};
  const Eigen::Vector3d plane = qr.solve(values);
  // Two directions within the plane, from its points at three pixels.
  const auto point = [&](double u, double v) {
    const Vec3d ray = camera.ray({x + 0.5 + u, y + 0.5 + v});
    return (1 / (plane(0) * u + plane(1) * v + plane(2))) * ray;
  };
  const Vec3d origin = point(0, 0);
  const Vec3d normal = normalized(cross(point(0.1, 0) - origin, point(0, 0.1) - origin));
  return dot(normal, origin) > 0 ? -1.0 * normal : normal;
}

constexpr Pinhole kNoisyCamera{150, 71, 90, 85, 70.3, 40.8};

/// Two surfaces with an edge between them, unknown pixels, and a part where few are known.
Image<float> noisy_depth() {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> noise(-0.006f, 0.006f), share(0, 1);
  Image<float> depth(kNoisyCamera.width, kNoisyCamera.height);
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x) {
      const float surface =
          x + y < 90 ? 2 + 0.01f * static_cast<float>(x) : 4 - 0.012f * static_cast<float>(y);
      depth(x, y) = surface * (1 + noise(random));
      if (share(random) < (x > 110 ? 0.85f : 0.1f)) depth(x, y) = kUnknown;
    }
  return depth;
}

TEST(NormalsFromDepth, AreThoseOfTheBestPlanes) {
  const Pinhole& camera = kNoisyCamera;
  const Image<float> depth = noisy_depth();
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  int known = 0, unknown = 0;
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x) {
      const Vec3d expected = fitted_normal(depth.view(), camera, x, y);
      const Vec3f found = normals(x, y);
      EXPECT_EQ(std::isnan(found.x), std::isnan(expected.x)) << x << " " << y;
      if (std::isnan(expected.x)) {
        ++unknown;
        continue;
      }
      ++known;
      EXPECT_NEAR(norm(Vec3d{found.x, found.y, found.z} - expected), 0.0, 1e-5) << x << " " << y;
    }
  EXPECT_GT(known, 6000);
  EXPECT_GT(unknown, 2000);
}

TEST(NormalsFromDepth, AreThoseOfTheStep) {
  const Pinhole& camera = kNoisyCamera;
  const Image<float> depth = noisy_depth();
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x) {
      const auto inverse_depth = [&](int dx, int dy) {
        const bool inside = x + dx >= 0 && x + dx < camera.width && y + dy >= 0 && y + dy < camera.height;
        return 1.0 / static_cast<double>(inside ? depth(x + dx, y + dy) : kUnknown);
      };
      const Vec3f expected = normal_step(camera, x, y, inverse_depth), found = normals(x, y);
      ASSERT_EQ(std::isnan(found.x), std::isnan(expected.x)) << x << " " << y;
      if (std::isnan(expected.x)) continue;
      ASSERT_TRUE(found.x == expected.x && found.y == expected.y && found.z == expected.z) << x << " " << y;
    }
}

TEST(LocalContrast, IsTheStandardDeviationOfTheWindow) {
  Image<std::uint8_t> grey(5, 3, 10);
  grey(2, 1) = 19;
  const Image<float> contrast = local_contrast(grey.view(), 3);
  // One of nine pixels is 9 above the others: sqrt(9^2 / 9 - 1).
  EXPECT_NEAR(contrast(2, 1), std::sqrt(8.0f), 1e-5f);
  EXPECT_NEAR(contrast(1, 0), std::sqrt(8.0f), 1e-5f);
  EXPECT_EQ(contrast(0, 0), 0.0f);
  // At the corner (4, 2) the window replicates the border; the bright pixel is outside it.
  EXPECT_EQ(contrast(4, 2), 0.0f);
}

TEST(Median, TakesTheMiddleOfTheKnown) {
  Image<float> depth(3, 3, 5.0f);
  depth(1, 1) = 100;
  depth(0, 0) = kUnknown;
  const Image<float> result = median_3x3(depth.view());
  EXPECT_EQ(result(1, 1), 5.0f);
  EXPECT_TRUE(std::isnan(result(0, 0)));
  Image<float> two(2, 1);
  two(0, 0) = 3, two(1, 0) = 4;
  EXPECT_EQ(median_3x3(two.view())(1, 0), 3.0f) << "the lower one of an even number";
}

TEST(RemoveSpeckles, DropsSmallPatchesAndKeepsSteps) {
  Image<float> depth(8, 4, 1.0f);
  depth(3, 1) = depth(4, 1) = 2.0f;                // a patch of two on the far side of a step
  for (int y = 0; y < 4; ++y) depth(7, y) = 3.0f;  // a patch of four
  depth(0, 3) = kUnknown;
  remove_speckles(depth.view(), 3, 0.1f);
  EXPECT_TRUE(std::isnan(depth(3, 1)) && std::isnan(depth(4, 1)));
  EXPECT_EQ(depth(7, 2), 3.0f);
  EXPECT_EQ(depth(0, 0), 1.0f);
  EXPECT_TRUE(std::isnan(depth(0, 3)));
}

/// The pixels of the patch of (x, y), by flooding.
int patch_size(ImageView<const float> depth, int x, int y, float step) {
  std::set<std::pair<int, int>> patch;
  const std::function<void(int, int)> flood = [&](int i, int j) {
    if (!patch.emplace(i, j).second) return;
    for (const auto& [k, l] : {std::pair{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}})
      if (depth.contains(k, l) &&
          std::abs(depth(k, l) - depth(i, j)) <= step * std::min(depth(k, l), depth(i, j)))
        flood(k, l);
  };
  flood(x, y);
  return static_cast<int>(patch.size());
}

TEST(RemoveSpeckles, EqualsFlooding) {
  std::mt19937 random(5);
  for (const auto& [width, height, levels, min_size] : {std::array{40, 31, 2, 5},
                                                        {40, 31, 3, 9},
                                                        {1, 50, 2, 3},
                                                        {50, 1, 2, 3},
                                                        {33, 47, 2, 60},
                                                        {1, 1, 1, 2}}) {
    Image<float> depth(width, height), result(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        result(x, y) = depth(x, y) =
            random() % 5 == 0 ? kUnknown
                              : 1.0f + static_cast<float>(random() % static_cast<unsigned>(levels));
    remove_speckles(result.view(), min_size, 0.1f);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        if (std::isnan(depth(x, y))) continue;
        EXPECT_EQ(std::isnan(result(x, y)), patch_size(depth.view(), x, y, 0.1f) < min_size)
            << x << ", " << y;
      }
  }
}

}  // namespace
}  // namespace recon

#include "refine/mean_normals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/eigen.hpp"
#include "refine/mean_normal_step.hpp"
#include "refine/normals.hpp"

namespace recon {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A unit normal so many degrees from the optical axis, to the right.
Vec3f tilted(double degrees) {
  const double radians = degrees * 3.14159265358979323846 / 180;
  return {static_cast<float>(std::sin(radians)), 0.0f, static_cast<float>(-std::cos(radians))};
}

double degrees_between(Vec3f a, Vec3f b) {
  return std::acos(std::clamp(dot(widened(a), widened(b)), -1.0, 1.0)) * 180 / 3.14159265358979323846;
}

struct Surface {
  Image<float> depth;
  Image<Vec3f> normal;
};

Surface level_surface(int width, int height) {
  Surface surface{Image<float>(width, height), Image<Vec3f>(width, height)};
  surface.depth.fill(2);
  surface.normal.fill(tilted(0));
  return surface;
}

Image<Vec3f> means_of(const Surface& surface) {
  return mean_normals(surface.normal.view(), surface.depth.view());
}

TEST(MeanNormals, AreOfTheWindowAroundAPixel) {
  Surface surface = level_surface(5, 5);
  surface.normal(0, 4) = tilted(20);
  // Of 25 normals one is tilted by 20 degrees: atan(sin 20 / (24 + cos 20)).
  EXPECT_NEAR(degrees_between(means_of(surface)(2, 2), tilted(0)), 0.7857, 1e-3);
  // Of the 15 in the window of (4, 2) none is, of the 9 in that of (0, 4) one.
  EXPECT_EQ(degrees_between(means_of(surface)(4, 2), tilted(0)), 0.0);
  EXPECT_NEAR(degrees_between(means_of(surface)(0, 4), tilted(0)), 2.1907, 1e-3);
}

TEST(MeanNormals, AreOfOneSurface) {
  Surface surface = level_surface(5, 5);
  for (int y = 0; y < 5; ++y) {
    surface.normal(3, y) = surface.normal(4, y) = tilted(31);        // a crease
    surface.normal(0, y) = tilted(10), surface.depth(0, y) = 2.05f;  // a step
  }
  surface.depth(2, 0) = kNaN, surface.normal(2, 0) = {kNaN, kNaN, kNaN};
  const Image<Vec3f> means = means_of(surface);
  EXPECT_EQ(degrees_between(means(2, 2), tilted(0)), 0.0);
  EXPECT_LT(degrees_between(means(4, 2), tilted(31)), 1e-3);
  EXPECT_LT(degrees_between(means(0, 2), tilted(10)), 1e-3);
  EXPECT_TRUE(std::isnan(means(2, 0).x));
  for (int y = 0; y < 5; ++y) {
    surface.normal(3, y) = surface.normal(4, y) = tilted(29);
    surface.depth(0, y) = 2.03f;
  }
  EXPECT_GT(degrees_between(means_of(surface)(2, 2), tilted(0)), 10.0);
  EXPECT_LT(degrees_between(means_of(surface)(1, 2), tilted(10)), 10.0);
}

/// A bent surface of noisy normals with steps of depth and unknown pixels.
Surface noisy_surface(int width, int height) {
  Surface surface = level_surface(width, height);
  std::mt19937 random(static_cast<unsigned>(width * 1000 + height));
  std::normal_distribution<double> noise(0, 0.2);
  std::uniform_real_distribution<float> share(0, 1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Vec3d n = normalized(Vec3d{std::sin(0.1 * x) + noise(random), noise(random), -1 + noise(random)});
      surface.normal(x, y) = {static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)};
      surface.depth(x, y) = (x / 9 % 2 == 0 ? 2.0f : 2.2f) * (1 + 0.03f * share(random));
      if (share(random) < 0.1f) surface.depth(x, y) = kNaN;
      if (share(random) < 0.1f) surface.normal(x, y) = {kNaN, kNaN, kNaN};
    }
  return surface;
}

/// The mean as its description has it, in double precision; empty near a threshold, where rounding decides.
std::vector<Eigen::Vector3d> textbook_mean(const Surface& surface, int x, int y) {
  const auto vector = [&](int i, int j) {
    const Vec3f n = surface.normal(i, j);
    return Eigen::Vector3d(n.x, n.y, n.z);
  };
  const Eigen::Vector3d own = vector(x, y);
  const double z = surface.depth(x, y);
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int j = std::max(y - 2, 0); j <= std::min(y + 2, surface.depth.height() - 1); ++j)
    for (int i = std::max(x - 2, 0); i <= std::min(x + 2, surface.depth.width() - 1); ++i) {
      const double cosine = own.dot(vector(i, j));  // NaN where a normal is unknown
      const double angle = cosine > 1 ? 0 : std::acos(cosine) * 180 / 3.14159265358979323846;
      const double away = std::abs(surface.depth(i, j) - z) / z;
      if (std::abs(angle - 30) < 1e-3 || std::abs(away - 0.02) < 1e-6) return {};
      if (angle <= 30 && away <= 0.02) sum += vector(i, j);
    }
  return {sum.normalized()};
}

TEST(MeanNormals, AreThoseOfTheTextbook) {
  const Surface surface = noisy_surface(131, 67);
  const Image<Vec3f> means = means_of(surface);
  int known = 0, skipped = 0;
  for (int y = 0; y < 67; ++y)
    for (int x = 0; x < 131; ++x) {
      const Vec3f mean = means(x, y);
      if (std::isnan(surface.normal(x, y).x) || std::isnan(surface.depth(x, y))) {
        EXPECT_TRUE(std::isnan(mean.x) && std::isnan(mean.y) && std::isnan(mean.z)) << x << " " << y;
        continue;
      }
      const auto expected = textbook_mean(surface, x, y);
      if (expected.empty()) {
        ++skipped;
        continue;
      }
      ++known;
      EXPECT_NEAR((Eigen::Vector3d(mean.x, mean.y, mean.z) - expected[0]).norm(), 0, 1e-6) << x << " " << y;
    }
  EXPECT_GT(known, 6500);
  EXPECT_LT(skipped, 100);
}

TEST(MeanNormals, AreThoseOfTheStep) {
  for (const auto& [width, height] : {std::array{131, 67}, {61, 97}, {1, 1}, {50, 1}, {2, 40}, {7, 5}}) {
    const Surface surface = noisy_surface(width, height);
    const Image<Vec3f> means = means_of(surface);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const auto inside = [&, w = width, h = height](int i, int j) {
          return i >= 0 && i < w && j >= 0 && j < h;
        };
        const Vec3f expected = mean_normal_step(
            [&](int dx, int dy) { return inside(x + dx, y + dy) ? surface.depth(x + dx, y + dy) : kNaN; },
            [&](int dx, int dy) {
              return inside(x + dx, y + dy) ? surface.normal(x + dx, y + dy) : Vec3f{kNaN, kNaN, kNaN};
            });
        const Vec3f found = means(x, y);
        ASSERT_EQ(std::isnan(found.x), std::isnan(expected.x)) << x << " " << y;
        if (std::isnan(expected.x)) continue;
        ASSERT_TRUE(found.x == expected.x && found.y == expected.y && found.z == expected.z) << x << " " << y;
      }
  }
}

TEST(CheckedNormals, HaveLessNoiseThanThoseOfDepthsWithHoles) {
  const Pinhole camera{150, 120, 500, 500, 75, 60};
  const Vec3d n = normalized(Vec3d{0.3, 0.2, -1.0});
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 0.002);
  std::uniform_real_distribution<double> share(0, 1);
  Image<float> depth(camera.width, camera.height);
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x) {
      const double z = 2 * n.z / dot(n, camera.ray(pixel_centre(x, y)));
      depth(x, y) = share(random) < 0.5 ? kUnknown : static_cast<float>(noise(random) * z);
    }
  const auto median_error = [&](const Image<Vec3f>& normals) {
    std::vector<double> angles;
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x)
        if (!std::isnan(normals(x, y).x))
          angles.push_back(std::acos(std::clamp(dot(widened(normals(x, y)), n), -1.0, 1.0)));
    EXPECT_GT(angles.size(), 8000U);
    std::nth_element(angles.begin(), angles.begin() + static_cast<int>(angles.size() / 2), angles.end());
    return angles[angles.size() / 2];
  };
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  EXPECT_LT(median_error(checked_normals(depth.view(), camera)), 0.9 * median_error(normals));
}

}  // namespace
}  // namespace recon

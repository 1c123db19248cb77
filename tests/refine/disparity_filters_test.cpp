#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "core/eigen.hpp"
#include "reference/sweep_problems.hpp"
#include "refine/depth_filters.hpp"
#include "refine/rows.hpp"

namespace recon {
namespace {

using test::U;

Image<float> map_of(const std::vector<std::vector<float>>& rows) {
  return test::image_of(rows);
}

TEST(DisparitySpeckles, GoBySizeAndStep) {
  // 4.0 to 5.0 is one surface, 5.0 to 6.25 is not; the patch of two pixels at the right is removed.
  Image<float> map = map_of({{4, 5, 6.25f, 6.25f}, {4, 5, 5, 5}, {U, 5, 5, 5}});
  remove_disparity_speckles(map.view(), 3);
  EXPECT_EQ(map(0, 0), 4.0f);
  EXPECT_EQ(map(1, 0), 5.0f);
  EXPECT_TRUE(std::isnan(map(2, 0)) && std::isnan(map(3, 0)));
  EXPECT_TRUE(std::isnan(map(0, 2)));
  EXPECT_EQ(map(3, 2), 5.0f);
  Image<float> kept = map_of({{4, 5, 6.25f, 6.25f}});
  remove_disparity_speckles(kept.view(), 2);
  EXPECT_EQ(kept(3, 0), 6.25f) << "a patch of the least size stays";
}

TEST(DisparitySpeckles, TouchAcrossCornersOnlyByEdges) {
  Image<float> map = map_of({{1, U}, {U, 1}});
  remove_disparity_speckles(map.view(), 2);
  EXPECT_TRUE(std::isnan(map(0, 0)) && std::isnan(map(1, 1)));
}

/// Even in -0.5 .. 0.5.
double smoothing_noise(int x, int y) {
  return reference::hashed(7, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)) - 0.5;
}

Image<float> noisy_map(int width, int height, const std::function<double(int, int)>& surface, double noise) {
  Image<float> map(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      map(x, y) = static_cast<float>(surface(x, y) + noise * smoothing_noise(x, y));
  return map;
}

/// A plane by least squares, in coordinates relative to a pixel.
struct TextbookPlane {
  double a = 0, b = 0, c = 0, variance = 0;
  int count = 0;
};

/// Through the pixels of a window that lie within `limit` of `around`.
TextbookPlane textbook_plane(const Image<float>& map, int x, int y, int cells, int stride,
                             const TextbookPlane& around, double limit) {
  std::vector<Eigen::Vector3d> places;
  std::vector<double> values;
  for (int j = -cells * stride; j <= cells * stride; j += stride)
    for (int i = -cells * stride; i <= cells * stride; i += stride) {
      if (!map.view().contains(x + i, y + j) || std::isnan(map(x + i, y + j))) continue;
      const double value = static_cast<double>(map(x + i, y + j));
      if (std::abs(value - (around.a * i + around.b * j + around.c)) > limit) continue;
      places.emplace_back(i, j, 1);
      values.push_back(value);
    }
  const auto count = static_cast<Eigen::Index>(places.size());
  TextbookPlane plane;
  plane.count = static_cast<int>(count);
  if (count < 4) return plane;
  Eigen::MatrixXd a(count, 3);
  Eigen::VectorXd b(count);
  for (Eigen::Index k = 0; k < count; ++k)
    a.row(k) = places[static_cast<std::size_t>(k)].transpose(), b(k) = values[static_cast<std::size_t>(k)];
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(a);
  if (solver.rank() < 3) plane.count = 0;
  const Eigen::Vector3d solution = solver.solve(b);
  plane.a = solution(0), plane.b = solution(1), plane.c = solution(2);
  plane.variance = (a * solution - b).squaredNorm() / static_cast<double>(count - 3);
  return plane;
}

double textbook_smoothed(const Image<float>& map, int x, int y) {
  const double middle = static_cast<double>(map(x, y));
  const TextbookPlane narrow = textbook_plane(map, x, y, 3, 1, {0, 0, middle}, 1);
  if (narrow.count < 9) return middle;
  const double limit = std::min(1.0, 3 * std::sqrt(narrow.variance) + 0.1);
  const TextbookPlane wide = textbook_plane(map, x, y, 2, 3, narrow, limit);
  double smooth = narrow.c;
  if (wide.count >= 9) {
    const double variance = std::max(narrow.variance, wide.variance) + 1e-4;
    const double near = 4 * variance / narrow.count + std::pow(0.002 * 9, 2);
    const double far = variance / wide.count + std::pow(0.002 * 36, 2);
    smooth = (narrow.c / near + wide.c / far) / (1 / near + 1 / far);
  }
  return std::abs(smooth - middle) <= 1 ? smooth : middle;
}

constexpr DisparityBounds kWideBounds = {-100, 200};

TEST(SmoothedDisparities, AreTheTextbooks) {
  const auto steps = [](int x, int y) { return 20 + 0.31 * x - 0.12 * y + 2.7 * ((x / 11 + y / 8) % 2); };
  for (const auto& [width, height] : {std::pair{47, 31}, {13, 13}, {14, 5}, {1, 9}, {3, 3}}) {
    Image<float> map = noisy_map(width, height, steps, 0.7);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if ((x * 5 + y * 3) % 17 == 0) map(x, y) = U;
    const Image<float> smooth = smoothed_disparities(map.view(), kWideBounds);
    int moved = 0, other = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        ASSERT_EQ(std::isnan(smooth(x, y)), std::isnan(map(x, y))) << x << " " << y;
        if (std::isnan(map(x, y))) continue;
        // Where a pixel lies just at a limit, rounding decides.
        other += std::abs(static_cast<double>(smooth(x, y)) - textbook_smoothed(map, x, y)) > 1e-4 ? 1 : 0;
        moved += smooth(x, y) != map(x, y) ? 1 : 0;
      }
    EXPECT_LE(other, width * height / 500) << width << " x " << height;
    EXPECT_TRUE(width < 40 || moved > width * height / 2) << moved;
  }
}

TEST(SmoothedDisparities, LoseTheNoiseOfASlantedSurface) {
  const auto slope = [](int x, int y) { return 30 - 0.2 * x + 0.33 * y; };
  const Image<float> map = noisy_map(60, 40, slope, 0.8),
                     smooth = smoothed_disparities(map.view(), kWideBounds);
  double before = 0, after = 0;
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) {
      before += std::pow(static_cast<double>(map(x, y)) - slope(x, y), 2);
      after += std::pow(static_cast<double>(smooth(x, y)) - slope(x, y), 2);
    }
  EXPECT_LT(std::sqrt(after), 0.4 * std::sqrt(before));
}

TEST(SmoothedDisparities, KeepStepsAndThinSurfaces) {
  // A step of two pixels, and a pole of three columns in front of the far side.
  const auto scene = [](int x, int) { return x < 20 ? 12.0 : x >= 30 && x < 33 ? 15.0 : 10.0; };
  const Image<float> map = noisy_map(45, 20, scene, 0),
                     smooth = smoothed_disparities(map.view(), kWideBounds);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 45; ++x) ASSERT_NEAR(smooth(x, y), scene(x, y), 1e-4) << x << " " << y;
}

/// A surface at the first disparity, whose pixels have it or are interpolated above it.
TEST(SmoothedDisparities, StayWhereTheyWereAtTheBoundsOfTheSearch) {
  constexpr DisparityBounds kSearched = {0, 3};
  Image<float> map(40, 20);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) map(x, y) = (x + y) % 3 == 0 ? 0.0f : (x + y) % 3 == 1 ? 0.5f : 0.7f;
  const Image<float> smooth = smoothed_disparities(map.view(), kSearched);
  int moved = 0;
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) {
      if (map(x, y) == 0)
        EXPECT_EQ(smooth(x, y), 0) << x << " " << y;
      else
        EXPECT_TRUE(smooth(x, y) >= 0.5f && smooth(x, y) <= 0.7f) << smooth(x, y);
      moved += smooth(x, y) != map(x, y) ? 1 : 0;
    }
  EXPECT_GT(moved, 400);
}

}  // namespace
}  // namespace recon

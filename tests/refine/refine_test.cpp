#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "refine/depth_filters.hpp"
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

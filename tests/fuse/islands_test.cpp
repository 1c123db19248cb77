#include "fuse/islands.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/counted_memory.hpp"
#include "core/peak_memory.hpp"

namespace recon {
namespace {

/// Maps without a known pixel; f = 500, so that an island has fewer than 100 pixels.
struct Maps {
  /// @param agreeing  number of sources that agree
  void add(int left, int top, int width, int height, float z, std::uint8_t agreeing) {
    for (int y = top; y < top + height; ++y)
      for (int x = left; x < left + width; ++x) {
        depth(x, y) = z;
        normal(x, y) = {0, 0, -1};
        confidence(x, y) = 0.9f;
        agreement(x, y).agree = agreeing;
      }
  }
  /// The number of known pixels after the islands are removed.
  int left(int min_size = 0) {
    remove_islands({depth.view(), normal.view(), confidence.view()}, agreement.view(),
                   {100, 80, 500, 500, 50, 40}, min_size);
    int known = 0;
    for (int y = 0; y < 80; ++y)
      for (int x = 0; x < 100; ++x) {
        EXPECT_EQ(std::isnan(depth(x, y)), std::isnan(normal(x, y).x));
        EXPECT_EQ(std::isnan(depth(x, y)), std::isnan(confidence(x, y)));
        known += !std::isnan(depth(x, y));
      }
    return known;
  }

  Image<float> depth{100, 80, kUnknown}, confidence{100, 80, kUnknown};
  Image<Agreement> agreement{100, 80, Agreement{}};
  Image<Vec3f> normal{100, 80, Vec3f{kUnknown, kUnknown, kUnknown}};
};

TEST(Islands, AreSmallAndSeenByTwoViews) {
  Maps maps;
  maps.add(10, 10, 9, 11, 2.0f, 1);  // 99 pixels
  EXPECT_EQ(maps.left(), 0);
  maps.add(10, 10, 10, 10, 2.0f, 1);
  EXPECT_EQ(maps.left(), 100) << "large enough";
  Maps seen;
  seen.add(10, 10, 3, 3, 2.0f, 2);
  EXPECT_EQ(seen.left(), 9);
  EXPECT_EQ(seen.left(9), 9);
  EXPECT_EQ(seen.left(10), 0) << "too small, whoever sees it";
}

TEST(Islands, AreSurfacesIfThreeViewsSeeThreeTenths) {
  Maps maps;
  maps.add(10, 10, 3, 1, 2.0f, 2);
  maps.add(10, 11, 7, 1, 2.0f, 1);
  maps.add(60, 10, 2, 1, 2.0f, 2);
  maps.add(60, 11, 7, 1, 2.0f, 1);
  EXPECT_EQ(maps.left(), 10) << "the first alone";
}

TEST(Islands, OfOneSurfaceCountTogetherOverGaps) {
  for (const int gap : {1, 9, 10}) {
    Maps row, column;
    for (int i = 0; i < 3; ++i) {
      row.add(5 + i * (6 + gap), 10, 6, 6, 2.0f, 1);
      column.add(10, 5 + i * (6 + gap), 6, 6, 2.0f, 1);
    }
    EXPECT_EQ(row.left(), gap < 10 ? 108 : 0) << gap;
    EXPECT_EQ(column.left(), gap < 10 ? 108 : 0) << gap;
  }
}

TEST(Islands, AreDividedByStepsOfDepth) {
  for (const float step : {1.019f, 1.021f}) {
    Maps maps;
    maps.add(10, 10, 8, 8, 2.0f, 1);
    maps.add(18, 10, 8, 8, 2.0f * step, 1);
    EXPECT_EQ(maps.left(), step < 1.02f ? 128 : 0) << step;
  }
}

TEST(Islands, TakeNoMoreMemoryThanTheySay) {
  constexpr int kWidth = 1500, kHeight = 1400;
  Image<float> depth(kWidth, kHeight), confidence(kWidth, kHeight, 0.5f);
  Image<Vec3f> normal(kWidth, kHeight, Vec3f{0, 0, -1});
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) depth(x, y) = (x + y) % 2 == 0 ? 1.0f : 2.0f;  // a run each
  const Image<Agreement> agreement(kWidth, kHeight, Agreement{});
  const auto remove = [&] {
    remove_islands({depth.view(), normal.view(), confidence.view()}, agreement.view(),
                   {kWidth, kHeight, 1, 1, 750, 700}, 0);
  };
  const std::size_t most = counted_bytes(1, remove), taken = added_memory(remove);
  EXPECT_LE(taken, most + (std::size_t{1} << 20));
  EXPECT_GT(taken, most / 2) << "the sum is far off";
}

}  // namespace
}  // namespace recon

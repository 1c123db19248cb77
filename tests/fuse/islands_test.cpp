#include "fuse/islands.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>

namespace recon {
namespace {

/// Maps without a known pixel; f = 500, so that an island has fewer than 50 pixels.
struct Maps {
  void add(int left, int top, int width, int height, float z, float reliability) {
    for (int y = top; y < top + height; ++y)
      for (int x = left; x < left + width; ++x) {
        depth(x, y) = z;
        normal(x, y) = {0, 0, -1};
        confidence(x, y) = reliability;
      }
  }
  /// The number of known pixels after the islands are removed.
  int left(int min_size = 0) {
    remove_islands({depth.view(), normal.view(), confidence.view()}, {100, 80, 500, 500, 50, 40}, min_size);
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
  Image<Vec3f> normal{100, 80, Vec3f{kUnknown, kUnknown, kUnknown}};
};

TEST(Islands, AreSmallAndNotReliable) {
  Maps maps;
  maps.add(10, 10, 7, 7, 2.0f, 0.6f);  // 49 pixels
  EXPECT_EQ(maps.left(), 0);
  maps.add(10, 10, 10, 5, 2.0f, 0.6f);
  EXPECT_EQ(maps.left(), 50) << "large enough";
  Maps reliable;
  reliable.add(10, 10, 3, 3, 2.0f, 0.93f);
  EXPECT_EQ(reliable.left(), 9);
  EXPECT_EQ(reliable.left(9), 9);
  EXPECT_EQ(reliable.left(10), 0) << "too small for any confidence";
}

TEST(Islands, AreReliableIfHalfOfTheirPixelsAre) {
  Maps maps;
  maps.add(10, 10, 4, 2, 2.0f, 0.95f);
  maps.add(10, 12, 4, 2, 2.0f, 0.5f);
  maps.add(60, 10, 3, 2, 2.0f, 0.95f);
  maps.add(60, 12, 3, 3, 2.0f, 0.5f);
  EXPECT_EQ(maps.left(), 16) << "the first alone";
}

TEST(Islands, OfOneSurfaceCountTogetherOverGaps) {
  for (const int gap : {1, 9, 10}) {
    Maps row, column;
    for (int i = 0; i < 3; ++i) {
      row.add(5 + i * (5 + gap), 10, 5, 5, 2.0f, 0.6f);
      column.add(10, 5 + i * (5 + gap), 5, 5, 2.0f, 0.6f);
    }
    EXPECT_EQ(row.left(), gap < 10 ? 75 : 0) << gap;
    EXPECT_EQ(column.left(), gap < 10 ? 75 : 0) << gap;
  }
}

TEST(Islands, AreDividedByStepsOfDepth) {
  for (const float step : {1.019f, 1.021f}) {
    Maps maps;
    maps.add(10, 10, 6, 6, 2.0f, 0.6f);
    maps.add(16, 10, 6, 6, 2.0f * step, 0.6f);
    EXPECT_EQ(maps.left(), step < 1.02f ? 72 : 0) << step;
  }
}

/// Resident bytes of this process at most since the last call; nothing where the system does not count them.
std::size_t take_peak_memory() {
  std::size_t kib = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> kib;
  std::ofstream("/proc/self/clear_refs") << 5;
  return kib << 10;
}

TEST(Islands, TakeNoMoreMemoryThanTheySay) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer takes memory of its own";
#endif
  constexpr int kWidth = 1500, kHeight = 1400;  // 2^21 runs: the lists are just about to grow
  Image<float> depth(kWidth, kHeight), confidence(kWidth, kHeight, 0.5f);
  Image<Vec3f> normal(kWidth, kHeight, Vec3f{0, 0, -1});
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) depth(x, y) = (x + y) % 2 == 0 ? 1.0f : 2.0f;  // a run each
  take_peak_memory();
  const std::size_t before = take_peak_memory();
  remove_islands({depth.view(), normal.view(), confidence.view()}, {kWidth, kHeight, 1, 1, 750, 700}, 0);
  const std::size_t taken = take_peak_memory() - before, most = islands_bytes(std::size_t{kWidth} * kHeight);
  EXPECT_LE(taken, most + (std::size_t{1} << 20));
  EXPECT_GT(taken, most / 3) << "the sum is far off";
}

}  // namespace
}  // namespace recon

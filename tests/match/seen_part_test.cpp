#include "match/seen_part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "match/warp_step.hpp"

namespace recon {
namespace {

constexpr int kWidth = 60, kHeight = 40;
constexpr Tile kTile = {20, 10, 37, 23};

SourceWarp shift_by(float pixels_x, float pixels_y) {
  return {{256, 0, 256 * pixels_x, 0, 256, 256 * pixels_y, 0, 0, 1}, {0, 0, 0}};
}

bool sees(const SourceWarp& warp, float w, int x, int y) {
  return sample_position(row_warp(warp, w, y), x, kWidth, kHeight).inside;
}

TEST(SeenPart, IsTheTileCutByTheBordersOfTheSource) {
  const auto expect_about = [](const Tile& found, const Tile& expected) {
    for (const auto& [a, b] : {std::pair(found.x, expected.x), std::pair(found.y, expected.y),
                               std::pair(found.x + found.width, expected.x + expected.width),
                               std::pair(found.y + found.height, expected.y + expected.height)})
      EXPECT_NEAR(a, b, 3);
  };
  expect_about(seen_part(shift_by(0, 0), 1, kTile, kWidth, kHeight), kTile);
  // Columns 30 .. 56 and rows 10 .. 19 land inside.
  expect_about(seen_part(shift_by(-30, 20), 1, kTile, kWidth, kHeight), {30, 10, 27, 10});
  for (const auto& [x, y] : {std::pair(50, 0), {-70, 0}, {0, 40}, {0, -50}}) {
    const Tile part =
        seen_part(shift_by(static_cast<float>(x), static_cast<float>(y)), 1, kTile, kWidth, kHeight);
    EXPECT_TRUE(part.width == 0 && part.height == 0) << x << " " << y;
  }
}

TEST(SeenPart, IsNoneBehindTheSource) {
  SourceWarp warp = shift_by(0, 0);
  warp.a[8] = -1;
  EXPECT_EQ(seen_part(warp, 1, kTile, kWidth, kHeight).width, 0);
}

/// Tilted and turned sources, some of them with the tile partly behind them.
TEST(SeenPart, HasAllPixelsThatAreSeen) {
  std::mt19937 random(20261127);
  std::uniform_real_distribution<float> unit(-1, 1);
  int seen = 0, partly = 0;
  for (int i = 0; i < 3000; ++i) {
    SourceWarp warp = {{256 + 80 * unit(random), 90 * unit(random), 8000 * unit(random), 90 * unit(random),
                        256 + 80 * unit(random), 8000 * unit(random), 0.02f * unit(random),
                        0.02f * unit(random), 1.0f + 0.9f * unit(random)},
                       {6000 * unit(random), 6000 * unit(random), 0.5f * unit(random)}};
    const float w = 1 + unit(random);
    const Tile part = seen_part(warp, w, kTile, kWidth, kHeight);
    ASSERT_TRUE(part.x >= kTile.x && part.x + part.width <= kTile.x + kTile.width && part.y >= kTile.y &&
                part.y + part.height <= kTile.y + kTile.height);
    for (int y = kTile.y; y < kTile.y + kTile.height; ++y)
      for (int x = kTile.x; x < kTile.x + kTile.width; ++x) {
        if (!sees(warp, w, x, y)) continue;
        ++seen;
        ASSERT_TRUE(x >= part.x && x < part.x + part.width && y >= part.y && y < part.y + part.height)
            << "case " << i << ": " << x << " " << y;
      }
    partly += part.width > 0 && part.width * part.height < kTile.width * kTile.height;
  }
  EXPECT_GT(seen, 100000);
  EXPECT_GT(partly, 500);
}

}  // namespace
}  // namespace recon

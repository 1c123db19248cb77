#include "refine/fill.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "refine/rows.hpp"

namespace recon {
namespace {

using test::U;

constexpr int kWidth = 30, kHeight = 24, kDisparities = 64;
constexpr int kEdge = 16;  ///< column where the near surface begins

/// An image with the near surface at the right of an edge.
Image<Rgb8> image_with_edge(int edge) {
  Image<Rgb8> image(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) image(x, y) = x < edge ? Rgb8{50, 60, 70} : Rgb8{180, 60, 70};
  return image;
}

/// Background of 3, a hole, and a near surface of 9.
Image<float> map_with_hole(int begin, int end) {
  Image<float> map(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) map(x, y) = x < begin ? 3.0f : x < end ? U : 9.0f;
  return map;
}

float plane_at(int x, int y) {
  return 20.0f - 0.25f * static_cast<float>(x) + 0.5f * static_cast<float>(y);
}

/// Fills a map whose near surface begins before the edge that the image has, or at it.
void expect_background_up_to_the_edge(Image<float> map, int first_filled) {
  const Image<std::uint8_t> filled =
      fill_disparity(map.view(), image_with_edge(kEdge).view(), 0, kDisparities);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_FLOAT_EQ(map(x, y), x < kEdge ? 3.0f : 9.0f) << x << ", " << y;
      EXPECT_EQ(filled(x, y), x >= first_filled && x < kEdge ? 255 : 0) << x << ", " << y;
    }
}

TEST(FillDisparity, TakesTheBackgroundBesideAHole) {
  expect_background_up_to_the_edge(map_with_hole(11, kEdge), 11);
}

TEST(FillDisparity, GivesAWidenedNearSurfaceBackToTheBackground) {
  expect_background_up_to_the_edge(map_with_hole(10, kEdge - 2), 10);
}

TEST(FillDisparity, CarriesTheSlopeOfASurface) {
  Image<float> map(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) map(x, y) = x < 10 ? U : plane_at(x, y);
  fill_disparity(map.view(), image_with_edge(0).view(), 0, kDisparities);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) EXPECT_NEAR(map(x, y), plane_at(x, y), 1e-3) << x << ", " << y;
}

TEST(FillDisparity, StaysInTheRange) {
  Image<float> map(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) map(x, y) = x < 10 ? U : plane_at(x, y);
  constexpr int kMin = 5, kCount = 21;
  fill_disparity(map.view(), image_with_edge(0).view(), kMin, kCount);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < 10; ++x)
      EXPECT_NEAR(map(x, y), std::min(plane_at(x, y), float{kMin + kCount - 1}), 1e-3) << x << ", " << y;
}

TEST(FillDisparity, ReachesPixelsWithoutAKnownOneInAnyDirection) {
  Image<float> map(kWidth, kHeight, U);
  map(0, 0) = 4;
  const Image<std::uint8_t> filled = fill_disparity(map.view(), image_with_edge(0).view(), 0, kDisparities);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_EQ(map(x, y), 4) << x << ", " << y;
      EXPECT_EQ(filled(x, y), x + y > 0 ? 255 : 0) << x << ", " << y;
    }
}

TEST(FillDisparity, LeavesMapsWithoutHolesAndWithoutAnythingAsTheyAre) {
  Image<float> whole = map_with_hole(kEdge, kEdge), unknown(kWidth, kHeight, U);
  const Image<Rgb8> image = image_with_edge(kEdge + 2);
  const Image<std::uint8_t> of_whole = fill_disparity(whole.view(), image.view(), 0, kDisparities);
  const Image<std::uint8_t> of_unknown = fill_disparity(unknown.view(), image.view(), 0, kDisparities);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_EQ(whole(x, y), x < kEdge ? 3 : 9);
      EXPECT_TRUE(std::isnan(unknown(x, y)));
      EXPECT_EQ(of_whole(x, y) + of_unknown(x, y), 0);
    }
}

/// A map in which one pixel is unknown, far from what is looked at.
Image<float> map_of(int width, int height, const std::function<float(int, int)>& disparity) {
  Image<float> map(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) map(x, y) = disparity(x, y);
  map(width - 3, height - 3) = U;
  return map;
}

TEST(FillDisparity, KeepsSlantedSurfaces) {
  for (const float slope : {-0.95f, -0.8f, 0.5f, 0.8f, 0.95f}) {
    const auto plane = [&](int x, int) { return 50.0f + slope * static_cast<float>(x - 30); };
    Image<float> map = map_of(60, 40, plane);
    const Image<Rgb8> image(60, 40, Rgb8{90, 90, 90});
    const Image<std::uint8_t> filled = fill_disparity(map.view(), image.view(), 0, 128);
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 60; ++x) {
        if (y == 37 && x >= 55) continue;
        EXPECT_EQ(map(x, y), plane(x, y)) << slope << ": " << x << ", " << y;
        EXPECT_EQ(filled(x, y), 0) << slope << ": " << x << ", " << y;
      }
    EXPECT_NEAR(map(57, 37), plane(57, 37), 1) << slope;
  }
}

TEST(FillDisparity, KeepsThinObjects) {
  for (int width = 1; width <= 7; ++width) {
    const auto is_pole = [&](int x) { return x >= 20 && x < 20 + width; };
    Image<float> map = map_of(60, 40, [&](int x, int) { return is_pole(x) ? 30.0f : 3.0f; });
    Image<Rgb8> image(60, 40, Rgb8{240, 240, 240});
    for (int y = 0; y < 40; ++y)
      for (int x = 20; x < 20 + width; ++x) image(x, y) = {10, 10, 10};
    const Image<std::uint8_t> filled = fill_disparity(map.view(), image.view(), 0, 64);
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 60; ++x) {
        EXPECT_EQ(map(x, y), is_pole(x) ? 30.0f : 3.0f) << width << ": " << x << ", " << y;
        EXPECT_EQ(filled(x, y), 0) << width << ": " << x << ", " << y;
      }
  }
}

/// The disparity of a pixel between two others in its row; the image has one colour.
float between(float left, int gap_left, float right, int gap_right, int min = 0) {
  const int width = gap_left + gap_right + 1;
  Image<float> map(width, 1, U);
  map(0, 0) = left, map(width - 1, 0) = right;
  fill_disparity(map.view(), Image<Rgb8>(width, 1, Rgb8{90, 90, 90}).view(), min, 128);
  return map(gap_left, 0);
}

TEST(FillDisparity, ComparesDisparityAndDistance) {
  EXPECT_EQ(between(9, 4, 3, 4), 3) << "the background";
  EXPECT_EQ(between(3, 4, 9, 4), 3) << "the background";
  EXPECT_EQ(between(9, 2, 3, 7), 3) << "3 + 7 < 9 + 2";
  EXPECT_EQ(between(9, 2, 3, 9), 9) << "3 + 9 > 9 + 2";
  EXPECT_EQ(between(-9, 4, -3, 4, -20), -9) << "negative ones are the background too";
  EXPECT_EQ(between(9, 4, 3, 4, 5), 5) << "not below the range";
}

/// At column 40 a near surface of 20 matches column 20 of the right view, where the left map sees one of 5 or
/// nothing.
TEST(FillDisparity, AsksTheRightViewWhatItSees) {
  for (const bool seen : {false, true}) {
    Image<float> map(80, 1, U);
    map(39, 0) = 20;
    map(58, 0) = 5;
    if (seen) map(25, 0) = 5;
    fill_disparity(map.view(), Image<Rgb8>(80, 1, Rgb8{90, 90, 90}).view(), 0, 64);
    EXPECT_EQ(map(40, 0), seen ? 5 : 20);
  }
}

TEST(FillDisparity, TakesDiagonalsToo) {
  Image<float> map(9, 9, U);
  map(0, 0) = 4;
  fill_disparity(map.view(), Image<Rgb8>(9, 9, Rgb8{90, 90, 90}).view(), 0, 64);
  Image<float> beside(9, 9, U);
  beside(0, 0) = 4, beside(0, 6) = 6;
  fill_disparity(beside.view(), Image<Rgb8>(9, 9, Rgb8{90, 90, 90}).view(), 0, 64);
  EXPECT_EQ(beside(4, 4), 4) << "along the diagonal, not the row";
  EXPECT_EQ(map(4, 4), 4);
}

/// Beyond the reach of surfaces.
TEST(FillDisparity, FillsWideHolesFromBothSides) {
  for (const bool wide : {true, false}) {
    const int width = wide ? 1200 : 3, height = wide ? 3 : 1200;
    Image<float> map(width, height, U);
    map(0, 0) = 9, map(width - 1, height - 1) = 3;
    fill_disparity(map.view(), Image<Rgb8>(width, height, Rgb8{90, 90, 90}).view(), 0, 64);
    EXPECT_EQ(map(width / 2, height / 2), 3) << "the background of both";
    EXPECT_EQ(wide ? map(200, 0) : map(0, 200), 9) << "within reach of one";
  }
}

}  // namespace
}  // namespace recon

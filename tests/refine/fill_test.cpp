#include "refine/fill.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace recon

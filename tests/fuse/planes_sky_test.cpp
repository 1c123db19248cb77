// Where an image shows sky, and what lies before it.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fuse/planes/asked_plane.hpp"
#include "fuse/planes/sky.hpp"
#include "planes_cases.hpp"

namespace recon {
namespace {

constexpr int kWidth = 60, kHeight = 40;
constexpr Rgb8 kBlue{90, 140, 220}, kWhite{250, 250, 250}, kStone{120, 110, 100};

/// Stone with a rectangle of another colour.
Image<Rgb8> with_rectangle(int x0, int y0, int x1, int y1, Rgb8 colour) {
  Image<Rgb8> image(kWidth, kHeight, kStone);
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) image(x, y) = colour;
  return image;
}

int count(const Image<std::uint8_t>& areas, int value) {
  int pixels = 0;
  for (int y = 0; y < areas.height(); ++y)
    for (int x = 0; x < areas.width(); ++x) pixels += areas(x, y) == value ? 1 : 0;
  return pixels;
}

TEST(PossibleSky, IsBlueOrWhiteAndReachesTheFirstRow) {
  for (const Rgb8 colour : {kBlue, kWhite}) {
    const Image<std::uint8_t> areas = possible_sky(with_rectangle(10, 0, 50, 15, colour).view());
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const bool corner = y == 14 && (x == 10 || x == 49);
        ASSERT_EQ(areas(x, y), x >= 10 && x < 50 && y < 15 && !corner ? 1 : 0) << x << " " << y;
      }
  }
  EXPECT_EQ(count(possible_sky(with_rectangle(10, 1, 50, 15, kBlue).view()), 0), kWidth * kHeight);
  for (const Rgb8 other : {Rgb8{140, 140, 149}, Rgb8{60, 70, 90}, Rgb8{234, 240, 240}, Rgb8{90, 230, 220}})
    EXPECT_EQ(count(possible_sky(with_rectangle(10, 0, 50, 15, other).view()), 0), kWidth * kHeight);
}

/// Twelve pixels are half a percent; those at the rim of a rectangle are not smooth.
TEST(PossibleSky, IsNotSmall) {
  EXPECT_EQ(count(possible_sky(with_rectangle(10, 0, 15, 4, kBlue).view()), 1), 0);
  EXPECT_EQ(count(possible_sky(with_rectangle(10, 0, 16, 4, kBlue).view()), 1), 24 - 2) << "without corners";
}

TEST(PossibleSky, IsSmooth) {
  for (const int difference : {15, 25}) {
    Image<Rgb8> image(kWidth, kHeight, kBlue);
    for (int y = 0; y < kHeight; ++y)
      for (int x = y % 2; x < kWidth; x += 2) image(x, y).g = static_cast<std::uint8_t>(140 - difference);
    EXPECT_EQ(count(possible_sky(image.view()), 1), difference == 15 ? kWidth * kHeight : 0);
  }
}

TEST(PossibleSky, HasAreasFromLeftToRight) {
  Image<Rgb8> image = with_rectangle(2, 0, 20, 15, kBlue);
  for (int y = 0; y < 10; ++y)
    for (int x = 30; x < 55; ++x) image(x, y) = kWhite;
  const Image<std::uint8_t> areas = possible_sky(image.view());
  EXPECT_EQ(count(areas, 1), 18 * 15 - 2);
  EXPECT_EQ(count(areas, 2), 25 * 10 - 2);
}

/// A view whose upper half may be sky, and one beside it.
struct SkyViews {
  SkyViews() {
    for (int y = 0; y < kHeight / 2; ++y)
      for (int x = 0; x < kWidth; ++x) areas(x, y) = 1;
  }
  std::vector<PlaneView> others() const { return {{camera, beside, of_other.view(), {}}}; }
  PlaneView view() const { return {camera, {}, depth.view(), {}}; }

  Pinhole camera{kWidth, kHeight, 50, 50, 30, 20};
  Pose beside{Mat3d{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {-0.2, 0, 0}};  // 2 pixels at a depth of 5
  Image<float> depth{kWidth, kHeight, kUnknown}, of_other{kWidth, kHeight, kUnknown};
  Image<std::uint8_t> areas{kWidth, kHeight, std::uint8_t{0}};
};

TEST(ConfirmedSky, HasNoSurface) {
  for (const bool own : {true, false})
    for (const int rows : {2, 5}) {  // of the 16 that are not near its rim
      SkyViews scene;
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < kWidth; ++x) (own ? scene.depth : scene.of_other)(x, y) = 5;
      const Image<std::uint8_t> sky = confirmed_sky(scene.view(), scene.areas.view(), scene.others());
      EXPECT_EQ(sky.empty(), rows == 5) << own;
      if (rows == 2) {
        EXPECT_EQ(count(sky, 1), kWidth * kHeight / 2) << own;
      }
    }
}

/// Depths at the rim of a sky are often those of what stands before it.
TEST(ConfirmedSky, MayHaveDepthsAtItsRim) {
  SkyViews scene;
  for (int y = kHeight / 2 - 4; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) scene.depth(x, y) = 5;
  EXPECT_EQ(count(confirmed_sky(scene.view(), scene.areas.view(), scene.others()), 1), kWidth * kHeight / 2);
}

TEST(ConfirmedSky, IsEmptyWithoutAreas) {
  SkyViews scene;
  scene.areas.fill(0);
  EXPECT_TRUE(confirmed_sky(scene.view(), scene.areas.view(), scene.others()).empty());
}

/// Of a thin one all pixels are at its rim: nothing says that it is sky.
TEST(ConfirmedSky, IsNotThin) {
  SkyViews scene;
  scene.areas.fill(0);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < kWidth; ++x) scene.areas(x, y) = 1;
  EXPECT_TRUE(confirmed_sky(scene.view(), scene.areas.view(), scene.others()).empty());
}

TEST(ConfirmedSky, IsThatOfEachArea) {
  SkyViews scene;
  for (int y = 0; y < kHeight / 2; ++y)
    for (int x = kWidth / 2; x < kWidth; ++x) scene.areas(x, y) = 2, scene.depth(x, y) = 5;
  const Image<std::uint8_t> sky = confirmed_sky(scene.view(), scene.areas.view(), {});
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) ASSERT_EQ(sky(x, y), x < kWidth / 2 && y < kHeight / 2 ? 1 : 0);
}

TEST(MarkBeforeSky, LabelsWhatAnotherViewSeesInItsSky) {
  SkyViews scene;
  scene.depth.fill(5);
  std::vector<PlaneView> others = scene.others();
  Image<std::uint8_t> labels(kWidth, kHeight, kUnlabelled);
  labels(20, 3) = 7;
  mark_before_sky(scene.view(), scene.depth.view(), others, labels.view());
  EXPECT_EQ(count(labels, kUnlabelled), kWidth * kHeight - 1) << "no view has a sky";
  others[0].sky = scene.areas.view();
  scene.depth(10, 3) = kUnknown;
  mark_before_sky(scene.view(), scene.depth.view(), others, labels.view());
  for (int y = 0; y < kHeight; ++y)  // 19: the last row of the sky is at its rim
    for (int x = 0; x < kWidth; ++x)
      ASSERT_EQ(labels(x, y), x == 20 && y == 3                          ? 7
                              : x >= 2 && y < 19 && !(x == 10 && y == 3) ? kNoSurface
                                                                         : kUnlabelled)
          << x << " " << y;
}

TEST(AskedPlane, CountsTheSkiesOfOthers) {
  const SkyViews scene;
  std::vector<PlaneView> others = scene.others();
  const Image<std::uint8_t> grey(kWidth, kHeight, std::uint8_t{100});
  others[0].grey = grey.view();
  others[0].sky = scene.areas.view();
  PlaneView view = scene.view();
  view.grey = grey.view();
  const AskedPlane plane({{0, 0, -1}, -5}, 1, view, others);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      PlaneAnswers answers;
      plane.ask({x, y}, answers);
      ASSERT_EQ(answers.sky, x >= 2 && y < 19 ? 1 : 0) << x << " " << y;
    }
}

}  // namespace
}  // namespace recon

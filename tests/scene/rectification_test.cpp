#include "scene/rectification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "tests/scene/synthetic_scene.hpp"

namespace recon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace recon::test;

constexpr Pinhole kCamera{640, 480, 500, 505, 322, 237};
/// Another size and another lens.
constexpr Pinhole kOtherCamera{800, 500, 610, 600, 390, 255};
constexpr DepthRange kRange{0.8, 2.0};
const Pose kReference{};

Mat3d roll(double degrees) {
  const double c = std::cos(degrees * kPi / 180), s = std::sin(degrees * kPi / 180);
  return {{c, -s, 0, s, c, 0, 0, 0, 1}};
}

/// A source at `centre` that looks at (0, 0, 1.2), rotated about its axis.
Pose source_at(Vec3d centre, double degrees = 0) {
  const Pose straight = looking_at(centre, {0, 0, 1.2});
  return Pose{roll(degrees), {0, 0, 0}} * straight;
}

struct Place {
  std::string name;
  Vec3d centre;
  double roll;
};

class RectifyFrom : public ::testing::TestWithParam<Place> {
 protected:
  const Pose source_ = source_at(GetParam().centre, GetParam().roll);
  const Rectification result_ = rectify(kCamera, kReference, kOtherCamera, source_, kRange);
};

TEST_P(RectifyFrom, GivesEveryPointOneRowAndTheClosedFormDisparity) {
  ASSERT_TRUE(result_.pair) << result_.refusal;
  const RectifiedPair& pair = *result_.pair;
  EXPECT_NEAR(pair.baseline, norm(GetParam().centre), 1e-12);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> x(0, kCamera.width), y(0, kCamera.height),
      z(kRange.near, kRange.far);
  int seen = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec2d pixel{x(random), y(random)};
    const Vec3d point = z(random) * kCamera.ray(pixel), in_source = source_ * point;
    const Vec2d source_pixel = kOtherCamera.project(in_source);
    if (in_source.z <= 0 || source_pixel.x < 0 || source_pixel.y < 0 || source_pixel.x > kOtherCamera.width ||
        source_pixel.y > kOtherCamera.height)
      continue;
    ++seen;
    const Vec3d left = pair.left_from_reference * point, right = pair.right_from_source * in_source;
    const Vec2d l = pair.left.project(left), r = pair.right.project(right);
    ASSERT_NEAR(left.z, right.z, 1e-12);
    ASSERT_NEAR(l.y, r.y, 1e-9);
    ASSERT_NEAR(l.x - r.x, pair.disparity(left.z), 1e-9);
    ASSERT_NEAR(pair.depth(l.x - r.x), left.z, 1e-9);
    ASSERT_GT(l.x - r.x, pair.left.cx - pair.right.cx)
        << "a point in front is farther left in the right image";
    ASSERT_GE(l.x - r.x, pair.min_disparity);
    ASSERT_LE(l.x - r.x, pair.min_disparity + pair.disparities - 1);
    ASSERT_TRUE(l.x >= 0 && l.x <= pair.left.width && l.y >= 0 && l.y <= pair.left.height);
    ASSERT_TRUE(r.x >= 0 && r.x <= pair.right.width && r.y >= 0 && r.y <= pair.right.height);
  }
  EXPECT_GT(seen, 500);
}

TEST_P(RectifyFrom, MakesTwoRotatedCamerasOfOneSize) {
  ASSERT_TRUE(result_.pair) << result_.refusal;
  const RectifiedPair& pair = *result_.pair;
  EXPECT_EQ(pair.left.width, pair.right.width);
  EXPECT_EQ(pair.left.height, pair.right.height);
  EXPECT_EQ(pair.left.fx, pair.left.fy);
  EXPECT_EQ(pair.left.fx, pair.right.fx);
  EXPECT_EQ(pair.left.fx, pair.right.fy);
  EXPECT_EQ(pair.left.cy, pair.right.cy);
  const double cosine = pair.left_from_reference(2, 2);
  EXPECT_NEAR(pair.left.fx, std::sqrt(kCamera.fx * kCamera.fy) * std::pow(cosine, 1.5), 1e-9);
  for (const Mat3d& r : {pair.left_from_reference, pair.right_from_source}) {
    const Mat3d product = r * transpose(r);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) EXPECT_NEAR(product(i, j), i == j ? 1 : 0, 1e-12);
    EXPECT_NEAR(dot(cross(Vec3d{r.m[0], r.m[1], r.m[2]}, Vec3d{r.m[3], r.m[4], r.m[5]}),
                    Vec3d{r.m[6], r.m[7], r.m[8]}),
                1, 1e-12);
  }
  EXPECT_LT(pair.left.width, 1.6 * kCamera.width);
  EXPECT_LT(pair.left.height, 1.6 * kCamera.width);
}

INSTANTIATE_TEST_SUITE_P(Places, RectifyFrom,
                         ::testing::Values(Place{"right", {0.2, 0, 0}, 0}, Place{"left", {-0.2, 0, 0}, 0},
                                           Place{"above", {0, -0.2, 0}, 0}, Place{"below", {0, 0.2, 0}, 0},
                                           Place{"aslant", {0.15, -0.1, 0.05}, 0},
                                           Place{"in_front_of", {0.2, 0.05, 0.06}, 0},
                                           Place{"behind", {-0.2, 0.1, -0.06}, 0},
                                           Place{"far_around", {0.6, 0.1, 0.2}, 0},
                                           Place{"right_turned_by_90", {0.2, 0, 0}, 90},
                                           Place{"left_turned_by_180", {-0.2, 0.03, 0}, 180},
                                           Place{"below_turned_by_minus_90", {0.02, 0.2, 0}, -90}),
                         [](const auto& place) { return place.param.name; });

TEST(Rectify, TurnsTheReferenceByWhereTheSourceStands) {
  const auto axis_after = [](Vec3d centre) {
    const Pose source{identity<double>(), -centre};
    const RectifiedPair pair = *rectify(kCamera, kReference, kCamera, source, kRange).pair;
    return pair.left_from_reference * Vec3d{1, 0, 0};
  };
  const auto expect = [](Vec3d found, Vec3d expected) { EXPECT_NEAR(norm(found - expected), 0, 1e-12); };
  expect(axis_after({0.1, 0, 0}), {1, 0, 0});
  expect(axis_after({-0.1, 0, 0}), {-1, 0, 0});
  expect(axis_after({0, 0.1, 0}), {0, -1, 0});
  expect(axis_after({0, -0.1, 0}), {0, 1, 0});
}

TEST(Rectify, SearchesTheDisparitiesOfTheDepthRange) {
  // f b = 500 * 0.1 = 50: disparities from 50 / 2 = 25 to 50 / 0.8 = 62.5.
  const Pinhole camera{640, 480, 500, 500, 320, 240};
  const Pose source{identity<double>(), {-0.1, 0, 0}};
  const RectifiedPair pair = *rectify(camera, kReference, camera, source, kRange).pair;
  const double offset = pair.left.cx - pair.right.cx;
  EXPECT_EQ(pair.disparity(2.0), 25 + offset);
  EXPECT_NEAR(pair.min_disparity, 25 + offset - 1, 1);
  EXPECT_NEAR(pair.min_disparity + pair.disparities - 1, 62.5 + offset + 1, 1.5);
}

TEST(Rectify, CutsToWhatBothSee) {
  // A source whose disparity is two thirds of the image width at the far end of a shallow range.
  const Pinhole camera{640, 480, 500, 500, 320, 240};
  const double baseline = 430 * 2.0 / 500;
  const Pose source{identity<double>(), {-baseline, 0, 0}};
  const RectifiedPair pair = *rectify(camera, kReference, camera, source, {1.95, 2.0}).pair;
  EXPECT_LT(pair.left.width, 300);
  EXPECT_GE(pair.left.width, 640 - 430);
  EXPECT_LT(pair.disparities, 20);
}

TEST(Rectify, LowersTheResolutionToStayWithinItsLimits) {
  const Pose source = source_at({0.4, 0, 0});
  const RectifiedPair full = *rectify(kCamera, kReference, kCamera, source, kRange).pair;
  RectifyLimits limits;
  limits.max_disparities = full.disparities / 2;
  const RectifiedPair fewer = *rectify(kCamera, kReference, kCamera, source, kRange, limits).pair;
  EXPECT_LE(fewer.disparities, limits.max_disparities);
  EXPECT_GT(fewer.disparities, limits.max_disparities * 9 / 10);
  EXPECT_NEAR(fewer.left.fx / full.left.fx, 0.5, 0.05);
  EXPECT_NEAR(fewer.left.width, full.left.width * fewer.left.fx / full.left.fx, 2);
  limits = {};
  limits.max_volume = std::size_t{1000} * 1000;
  const RectifiedPair small = *rectify(kCamera, kReference, kCamera, source, kRange, limits).pair;
  EXPECT_LE(small.left.width * small.left.height * small.disparities, 1000 * 1000);
  EXPECT_GT(small.left.width * small.left.height * small.disparities, 850 * 1000);
}

TEST(Rectify, RefusesWhatHasNoPair) {
  const auto refusal = [](const Pose& source) {
    const Rectification result = rectify(kCamera, kReference, kCamera, source, kRange);
    EXPECT_FALSE(result.pair);
    return result.refusal;
  };
  EXPECT_THAT(refusal(kReference), HasSubstr("same place"));
  EXPECT_THAT(refusal(Pose{roll(30), {0, 0, 0}}), HasSubstr("same place"));
  EXPECT_THAT(refusal(source_at({0, 0, 0.5})), HasSubstr("before the other"));
  EXPECT_THAT(refusal(source_at({0.05, 0, -0.5})), HasSubstr("before the other"));
  EXPECT_THAT(refusal(Pose{identity<double>(), {-3, 0, 0}}), HasSubstr("too little"));
  EXPECT_THAT(refusal(looking_at({0, 0, 2.4}, {0, 0, 0})), HasSubstr("before the other"));
  EXPECT_THAT(rectify(kCamera, kReference, kCamera, source_at({0.1, 0, 0}), kRange).refusal, IsEmpty());
}

/// Grey levels linear in the direction of a ray, so that bilinear sampling is exact.
double grey_at(Vec2d pixel) {
  return 40 + 0.2 * pixel.x + 0.15 * pixel.y;
}

Image<std::uint8_t> linear_image(const Pinhole& camera) {
  Image<std::uint8_t> image(camera.width, camera.height);
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x)
      image(x, y) = static_cast<std::uint8_t>(std::lround(grey_at(pixel_centre(x, y))));
  return image;
}

TEST(TurnedImage, ShowsWhatTheViewSeesInEachDirection) {
  const Image<std::uint8_t> image = linear_image(kCamera);
  const Mat3d turn = looking_at({0, 0, 0}, {0.2, 0.1, 1}, {0.3, 1, 0}).rotation;
  for (const double focal : {500.0, 170.0}) {
    const Pinhole target{240, 180, focal, focal, 130, 80};
    const Image<std::uint8_t> turned = rectified_image(image.view(), kCamera, turn, target);
    int inside = 0;
    for (int y = 0; y < target.height; ++y)
      for (int x = 0; x < target.width; ++x) {
        const Vec3d ray = transpose(turn) * target.ray(pixel_centre(x, y));
        const Vec2d pixel = kCamera.project(ray);
        if (pixel.x < 4 || pixel.y < 4 || pixel.x > kCamera.width - 4 || pixel.y > kCamera.height - 4)
          continue;
        ++inside;
        // Half a grey level for each of the two roundings.
        ASSERT_NEAR(turned(x, y), grey_at(pixel), 1.01) << x << " " << y << " focal " << focal;
      }
    EXPECT_GT(inside, 10000);
  }
}

TEST(TurnedImage, IsTheImageItselfWhereNothingTurns) {
  const Image<std::uint8_t> image = linear_image(kCamera);
  const Image<std::uint8_t> turned = rectified_image(image.view(), kCamera, identity<double>(), kCamera);
  for (int y = 0; y < kCamera.height; ++y)
    for (int x = 0; x < kCamera.width; ++x) ASSERT_EQ(turned(x, y), image(x, y));
}

TEST(TurnedImage, TakesTheMeanOfThePixelsThatItShrinks) {
  Image<std::uint8_t> stripes(64, 64);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) stripes(x, y) = x % 2 == 0 ? 0 : 200;
  const Pinhole camera{64, 64, 100, 100, 32, 32}, half{32, 32, 50, 50, 16, 16};
  const Image<std::uint8_t> turned = rectified_image(stripes.view(), camera, identity<double>(), half);
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) ASSERT_EQ(turned(x, y), 100);
}

}  // namespace
}  // namespace recon

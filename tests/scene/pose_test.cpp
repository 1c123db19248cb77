#include "scene/pose.hpp"

#include <gtest/gtest.h>

#include "scene/pinhole.hpp"

namespace recon {
namespace {

void expect_near(Vec3d a, Vec3d b, double tolerance = 1e-12) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

// A rotation by 90 degrees about z, x to y, then one unit along x.
const Pose kQuarterTurn{{{0, -1, 0, 1, 0, 0, 0, 0, 1}}, {1, 0, 0}};
// A rotation by 90 degrees about x, y to z, then two units along z.
const Pose kTilt{{{1, 0, 0, 0, 0, -1, 0, 1, 0}}, {0, 0, 2}};

TEST(Pose, MovesAPointByRotationThenTranslation) {
  expect_near(kQuarterTurn * Vec3d{1, 2, 3}, {-1, 1, 3});
}

TEST(Pose, ComposesRightToLeft) {
  // (1, 2, 3) -> (-1, 1, 3) by the first pose -> (-1, -3, 1 + 2) by the second.
  expect_near((kTilt * kQuarterTurn) * Vec3d{1, 2, 3}, {-1, -3, 3});
  expect_near((kQuarterTurn * kTilt) * Vec3d{1, 2, 3}, kQuarterTurn * (kTilt * Vec3d{1, 2, 3}));
}

TEST(Pose, InverseUndoesThePose) {
  expect_near(inverse(kQuarterTurn) * Vec3d{-1, 1, 3}, {1, 2, 3});
  const Pose nothing = inverse(kTilt) * kTilt;
  expect_near(nothing * Vec3d{4, 5, 6}, {4, 5, 6});
}

TEST(Pose, CentreIsWhereTheCameraStands) {
  // The centre is the world point that the pose maps to the origin.
  expect_near(camera_centre(kQuarterTurn), {0, 1, 0});
  expect_near(kTilt * camera_centre(kTilt), {0, 0, 0});
}

TEST(Pinhole, ProjectsByHand) {
  const Pinhole camera{640, 480, 500, 400, 320, 240};
  const Vec2d pixel = camera.project({1, -2, 4});
  EXPECT_DOUBLE_EQ(pixel.x, 445);  // 500 * 1 / 4 + 320
  EXPECT_DOUBLE_EQ(pixel.y, 40);   // 400 * -2 / 4 + 240
  expect_near(4.0 * camera.ray(pixel), {1, -2, 4});
}

TEST(Pinhole, PixelCentresLieAtHalves) {
  EXPECT_EQ(pixel_centre(0, 0).x, 0.5);
  EXPECT_EQ(pixel_centre(3, 7).y, 7.5);
  EXPECT_EQ(index_of(pixel_centre(3, 7)).x, 3);
  EXPECT_EQ(index_of(pixel_centre(3, 7)).y, 7);
  // The axis of a camera with its principal point at the middle of an even image passes through the common
  // corner of four pixels.
  const Pinhole camera{4, 2, 10, 10, 2, 1};
  EXPECT_EQ(index_of(camera.project({0, 0, 1})).x, 1.5);
}

}  // namespace
}  // namespace recon

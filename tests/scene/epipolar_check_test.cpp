// Whether pixels are found on their epipolar lines, on views of a textured plane in closed form.

#include "scene/epipolar_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace recon {
namespace {

constexpr int kWidth = 160, kHeight = 120;

/// Smooth noise: no place looks like another one.
double level(double x, double y) {
  const auto noise = [](int a, int b) {
    std::uint32_t h =
        static_cast<std::uint32_t>(a) * 0x9e3779b1u ^ static_cast<std::uint32_t>(b) * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    return static_cast<double>((h ^ (h >> 13)) & 255u);
  };
  const double u = 30 * x, v = 30 * y;
  const int a = static_cast<int>(std::floor(u)), b = static_cast<int>(std::floor(v));
  const double s = u - a, t = v - b;
  return (1 - t) * ((1 - s) * noise(a, b) + s * noise(a + 1, b)) +
         t * ((1 - s) * noise(a, b + 1) + s * noise(a + 1, b + 1));
}

/// A view of the plane z = 4.
struct PlaneView {
  Pinhole camera{kWidth, kHeight, 150, 150, 80, 60};
  Pose pose;
  Image<std::uint8_t> pixels{kWidth, kHeight};

  explicit PlaneView(const Pose& cam_from_world) : pose(cam_from_world) {
    const Pose world_from_cam = inverse(pose);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const Vec3d ray = world_from_cam.rotation * camera.ray(pixel_centre(x, y));
        const Vec3d at = world_from_cam.translation + ((4 - world_from_cam.translation.z) / ray.z) * ray;
        pixels(x, y) = static_cast<std::uint8_t>(level(at.x, at.y));
      }
  }

  SmallView view() const { return {camera, pose, pixels.view()}; }
};

/// A camera at `centre` that is turned about its x and y axes.
Pose pose_at(Vec3d centre, double about_x, double about_y) {
  const double a = std::cos(about_x), b = std::sin(about_x), c = std::cos(about_y), s = std::sin(about_y);
  const Mat3d rotation = Mat3d{{1, 0, 0, 0, a, b, 0, -b, a}} * Mat3d{{c, 0, s, 0, 1, 0, -s, 0, c}};
  return {rotation, -(rotation * centre)};
}

const PlaneView kFirstView(pose_at({0, 0, 0}, 0, 0)), kSecondView(pose_at({0.5, 0.3, 0.2}, 0.06, 0.1));

TEST(EpipolarCheck, MostPixelsAreFoundWithTheRightPoses) {
  for (const auto& [a, b] : {std::pair{&kFirstView, &kSecondView}, {&kSecondView, &kFirstView}}) {
    const EpipolarScore score = epipolar_score(a->view(), b->view());
    EXPECT_GT(score.tried, 40u);
    EXPECT_GT(score.share(), 0.85);
  }
}

TEST(EpipolarCheck, WrongPosesWinByChance) {
  const SmallView reference = kFirstView.view();
  SmallView source = kSecondView.view();
  EpipolarScore score;
  for (const double turn : {0.4, -0.4, 0.8, -0.8}) {  // the motion is seen in other directions
    const double c = std::cos(turn), s = std::sin(turn);
    source.cam_from_world = Pose{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {0, 0, 0}} * kSecondView.pose;
    source.cam_from_world.translation.y += 1;
    score += epipolar_score(reference, source);
  }
  EXPECT_GT(score.tried, 100u);
  EXPECT_NEAR(score.share(), kEpipolarChance, 0.12);
}

TEST(EpipolarCheck, IgnoredAndFlatPixelsAreNotTried) {
  SmallView reference = kFirstView.view();
  const Image<std::uint8_t> none(kWidth, kHeight, 0);
  reference.mask = none.view();
  EXPECT_EQ(epipolar_score(reference, kSecondView.view()).tried, 0u);
  reference.mask = {};
  const Image<std::uint8_t> flat(kWidth, kHeight, 90);
  reference.pixels = flat.view();
  EXPECT_EQ(epipolar_score(reference, kSecondView.view()).tried, 0u);
}

TEST(EpipolarCheck, ViewsOfOneCentreHaveNoEpipolarLines) {
  EXPECT_EQ(epipolar_score(kFirstView.view(), kFirstView.view()).tried, 0u);
}

TEST(EpipolarCheck, SmallImagesAreMeansOfBlocks) {
  Image<std::uint8_t> image(5, 2);
  for (int x = 0; x < 5; ++x) {
    image(x, 0) = static_cast<std::uint8_t>(10 * x);
    image(x, 1) = static_cast<std::uint8_t>(10 * x + 4);
  }
  const Image<std::uint8_t> half = averaged(image.view(), 2);
  ASSERT_EQ(half.width(), 2);
  ASSERT_EQ(half.height(), 1);
  EXPECT_EQ(half(0, 0), 7);
  EXPECT_EQ(half(1, 0), 27);
  const Pinhole camera = averaged(Pinhole{5, 2, 8, 6, 2.5, 1}, 2);
  EXPECT_EQ(camera.width, 2);
  EXPECT_EQ(camera.fx, 4);
  EXPECT_EQ(camera.cy, 0.5);
  EXPECT_EQ(small_view_factor(200, 150), 1);
  EXPECT_EQ(small_view_factor(150, 201), 2);
}

}  // namespace
}  // namespace recon

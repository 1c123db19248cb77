// Corners and their matches, on views of a textured plane in closed form.

#include "scene/corner_matches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace recon {
namespace {

constexpr int kWidth = 160, kHeight = 120;

/// Smooth noise: no place looks like another one.
double noise_level(double x, double y) {
  const auto noise = [](int a, int b) {
    std::uint32_t h =
        static_cast<std::uint32_t>(a) * 0x9e3779b1u ^ static_cast<std::uint32_t>(b) * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    return static_cast<double>((h ^ (h >> 13)) & 255u);
  };
  const double u = 10 * x, v = 10 * y;
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
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const Vec2d at = on_plane(pixel_centre(x, y));
        pixels(x, y) = static_cast<std::uint8_t>(noise_level(at.x, at.y));
      }
  }

  /// Where the ray through a pixel meets the plane.
  Vec2d on_plane(Vec2d pixel) const {
    const Pose world_from_cam = inverse(pose);
    const Vec3d ray = world_from_cam.rotation * camera.ray(pixel);
    const Vec3d at = world_from_cam.translation + ((4 - world_from_cam.translation.z) / ray.z) * ray;
    return {at.x, at.y};
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

std::vector<CornerMatch> matches_between(const SmallView& reference, const SmallView& source) {
  return match_corners(reference, find_corners(reference), source, find_corners(source));
}

/// How many matches show one point of the plane, to within a quarter of a pixel.
std::ptrdiff_t right_ones(const std::vector<CornerMatch>& matches, const PlaneView& reference,
                          const PlaneView& source) {
  return std::ranges::count_if(matches, [&](const CornerMatch& it) {
    const Vec2d a = reference.on_plane(it.in_reference), b = source.on_plane(it.in_source);
    return std::hypot(a.x - b.x, a.y - b.y) < 0.25 * 4 / 150;
  });
}

TEST(CornerMatches, ShowOnePointToAFractionOfAPixel) {
  for (const auto& [a, b] : {std::pair{&kFirstView, &kSecondView}, {&kSecondView, &kFirstView}}) {
    const std::vector<CornerMatch> matches = matches_between(a->view(), b->view());
    EXPECT_GT(matches.size(), 40u);
    EXPECT_GT(right_ones(matches, *a, *b), 0.75 * static_cast<double>(matches.size()));
  }
}

TEST(CornerMatches, AreWarpedAsPlanesInFrontOfTheReference) {
  const auto rolled = [](double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return PlaneView(Pose{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {0, 0, 0}} * kSecondView.pose);
  };
  const PlaneView turned = rolled(1.2);
  const std::vector<CornerMatch> matches = matches_between(kFirstView.view(), turned.view());
  EXPECT_GT(matches.size(), 25u);
  EXPECT_GT(right_ones(matches, kFirstView, turned), 0.8 * static_cast<double>(matches.size()));
}

TEST(CornerMatches, LieInABandAroundTheLine) {
  // The second camera is to the right: lines are rows, and the pose is said to be five pixels lower.
  const PlaneView beside(pose_at({0.5, 0, 0}, 0, 0));
  SmallView source = beside.view();
  source.camera.cy += 5;
  EXPECT_GT(right_ones(matches_between(kFirstView.view(), source), kFirstView, beside), 40)
      << "the band is 6 pixels wide on both sides";
  source.camera.cy += 3;
  EXPECT_LT(right_ones(matches_between(kFirstView.view(), source), kFirstView, beside), 5);
}

TEST(CornerMatches, WrongPosesMatchByChance) {
  SmallView source = kSecondView.view();
  source.cam_from_world = pose_at({-2, 1, -1}, 0.5, -0.4);
  const std::vector<CornerMatch> matches = matches_between(kFirstView.view(), source);
  EXPECT_LT(right_ones(matches, kFirstView, kSecondView), 10);
}

TEST(CornerMatches, HaveNothingWithoutBaseline) {
  EXPECT_TRUE(matches_between(kFirstView.view(), kFirstView.view()).empty());
}

TEST(CornerMatches, CornersAreNotIgnoredOrFlat) {
  SmallView view = kFirstView.view();
  Image<std::uint8_t> mask(kWidth, kHeight, 255);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth / 2; ++x) mask(x, y) = 0;
  const std::size_t all = find_corners(view).size();
  EXPECT_GT(all, 150u);
  view.mask = mask.view();
  const std::vector<Vec2d> right = find_corners(view);
  EXPECT_GT(right.size(), all / 3);
  EXPECT_TRUE(std::ranges::all_of(right, [](Vec2d it) { return it.x > kWidth / 2; }));
  Image<std::uint8_t> edge(kWidth, kHeight, 90);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 70; x < kWidth; ++x) edge(x, y) = 200;
  view = {kFirstView.camera, kFirstView.pose, edge.view()};
  EXPECT_TRUE(find_corners(view).empty()) << "an edge slides along itself";
  for (int y = 50; y < kHeight; ++y)
    for (int x = 70; x < kWidth; ++x) edge(x, y) = 90;
  const std::vector<Vec2d> corner = find_corners(view);
  ASSERT_FALSE(corner.empty());
  for (const Vec2d it : corner) EXPECT_LT(std::hypot(it.x - 70, it.y - 50), 4);
}

TEST(CornerMatches, SmallImagesAreMeansOfBlocks) {
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
  EXPECT_EQ(small_view_factor(400, 300), 1);
  EXPECT_EQ(small_view_factor(300, 401), 2);
}

}  // namespace
}  // namespace recon

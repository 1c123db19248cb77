// Planes as cameras see them, and how photos match along them, against points that are projected one by one.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "fuse/planes/plane_match.hpp"
#include "fuse/planes/plane_view.hpp"
#include "planes_cases.hpp"
#include "reference/plane_match_reference.hpp"

namespace recon {
namespace {

struct RandomCameras {
  explicit RandomCameras(unsigned seed) : engine(seed) {}
  double operator()(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  Pinhole camera() { return {97, 71, (*this)(60, 120), (*this)(60, 120), (*this)(30, 60), (*this)(20, 50)}; }
  Pose pose(double turn, double move) {
    const double a = (*this)(-turn, turn), b = (*this)(-turn, turn), c = (*this)(-turn, turn);
    return turned(a, b, c, {(*this)(-move, move), (*this)(-move, move), (*this)(-move, move)});
  }
  WorldPlane plane() {
    return {normalized(Vec3d{(*this)(-1, 1), (*this)(-1, 1), (*this)(-1, 1)}), (*this)(-3, 3)};
  }
  Vec2d pixel(const Pinhole& camera) { return {(*this)(0, camera.width), (*this)(0, camera.height)}; }
  std::mt19937 engine;
};

TEST(SeenPlane, HasTheDepthsOfRaysThatMeetThePlane) {
  RandomCameras random(1);
  int before = 0, behind = 0, faces = 0;
  for (int i = 0; i < 2000; ++i) {
    const Pinhole camera = random.camera();
    const Pose pose = random.pose(3, 2);
    const WorldPlane plane = random.plane();
    const SeenPlane seen(plane, camera, pose);
    const Vec2d pixel = random.pixel(camera);
    const Vec3d point = pose * reference::point_on_plane(plane.normal, plane.offset, camera, pose, pixel);
    ASSERT_NEAR(seen.inverse_depth(pixel), 1 / point.z, 1e-7 * (1 + std::abs(1 / point.z)));
    const double side = dot(plane.normal, camera_centre(pose)) - plane.offset;
    ASSERT_EQ(seen.faces(), side > 0);
    ASSERT_NEAR(-seen.offset, side, 1e-12);
    ++(point.z > 0 ? before : behind);
    faces += seen.faces();
  }
  EXPECT_GT(before, 500);
  EXPECT_GT(behind, 500);
  EXPECT_GT(faces, 500);
}

TEST(PlaneHomography, MapsPixelsAsTheirPointsAreProjected) {
  RandomCameras random(2);
  int seen = 0, behind = 0;
  for (int i = 0; i < 4000; ++i) {
    const Pinhole camera = random.camera(), source = random.camera();
    const Pose pose = random.pose(1, 1), source_pose = random.pose(1, 1);
    const WorldPlane plane = random.plane();
    const Vec2d pixel = random.pixel(camera);
    const Vec3d point = reference::point_on_plane(plane.normal, plane.offset, camera, pose, pixel);
    if (!((pose * point).z > 0)) continue;
    const PlaneHomography homography({plane, camera, pose}, camera, source, source_pose * inverse(pose));
    const Vec3d mapped = homography.homogeneous(pixel), in_source = source_pose * point;
    ASSERT_EQ(mapped.z > 0, in_source.z > 0);
    ++(in_source.z > 0 ? seen : behind);
    if (!(in_source.z > 0)) continue;
    const Vec2d expected = source.project(in_source);
    const double size = 1 + std::abs(expected.x) + std::abs(expected.y);
    ASSERT_NEAR(mapped.x / mapped.z, expected.x, 1e-8 * size);
    ASSERT_NEAR(mapped.y / mapped.z, expected.y, 1e-8 * size);
  }
  EXPECT_GT(seen, 500);
  EXPECT_GT(behind, 100);
}

/// A textured plane that a reference and sources see, and other planes to match along.
struct Photos {
  static constexpr int kSources = 4;

  /// @param turn  of the cameras about each axis, at most
  Photos(const WorldPlane& shown, double turn, unsigned seed) {
    RandomCameras random(seed);
    const SmoothTexture texture(seed);
    for (int i = 0; i <= kSources; ++i) {
      camera = {83, 59, 70, 72, 41, 30};
      Pose pose = random.pose(turn, 0.35);
      if (i == 0) pose = {};
      Image<std::uint8_t> grey(camera.width, camera.height);
      for (int y = 0; y < grey.height(); ++y)
        for (int x = 0; x < grey.width(); ++x) {
          const Vec3d at =
              reference::point_on_plane(shown.normal, shown.offset, camera, pose, pixel_centre(x, y));
          grey(x, y) = as_grey(texture(3 * at.x, 3 * at.y));
        }
      images.push_back(std::move(grey));
      poses.push_back(pose);
    }
    for (int i = 1; i <= kSources; ++i) {
      sources.push_back(view(i));
      photos.push_back(photo(i));
    }
  }
  PlaneView view(int i) const { return {camera, poses.at(i), {}, images.at(i).view()}; }
  reference::PlanePhoto photo(int i) const { return {camera, poses.at(i), images.at(i).view()}; }

  Pinhole camera;
  std::vector<Image<std::uint8_t>> images;
  std::vector<Pose> poses;
  std::vector<PlaneView> sources;
  std::vector<reference::PlanePhoto> photos;
};

/// Compares where windows are clearly inside of two sources or clearly not. @return how many are
int compare(const Photos& photos, const WorldPlane& plane, double tolerance) {
  const PlaneView view = photos.view(0);
  PlaneMatch match(view, photos.sources);
  match.set_plane({plane, view.camera, view.cam_from_world});
  int compared = 0, out = 0;
  for (int y = 4; y < view.camera.height - 4; ++y)
    for (int x = 4; x < view.camera.width - 4; ++x) {
      const auto expected = [&](double margin) {
        return reference::plane_zncc(plane.normal, plane.offset, photos.photo(0), photos.photos, x, y,
                                     margin);
      };
      const auto found = static_cast<double>(match.zncc(x, y));
      const double clearly = expected(0.5), at_all = expected(-0.5);
      if (std::isnan(at_all)) {
        EXPECT_TRUE(std::isnan(found)) << x << " " << y;
        ++out;
      }
      if (!std::isnan(clearly)) {
        EXPECT_FALSE(std::isnan(found)) << x << " " << y;
        // A source that is at the border may be one of the best two, or not.
        if (clearly != at_all) continue;
        EXPECT_NEAR(found, clearly, tolerance) << x << " " << y;
        ++compared;
      }
    }
  EXPECT_GT(out, 0);
  return compared;
}

/// Between parallel cameras before a plane that is parallel to them, windows map by shifts and scales, so
/// that their affine map is exact: what is left is rounding of positions of up to 83 in single precision,
/// 4e-6 pixels, of windows of a few grey levels.
TEST(PlaneMatch, EqualsTheTextbookWhereWindowsMapAffinely) {
  const WorldPlane plane{{0, 0, -1}, -3};
  const Photos photos(plane, 0, 3);
  EXPECT_GT(compare(photos, plane, 1e-4), 1000);
  EXPECT_GT(compare(photos, {{0, 0, -1}, -2.7}, 1e-4), 1000);
}

/// The affine map leaves out what is quadratic in the distance from the centre: for cameras turned by up to
/// 0.15, whose perspective changes by about 0.3 / 70 a pixel, 4 pixels away 4 x 4 x 0.3 / 70 = 0.07 pixels in
/// the corners, of structures of about 8 pixels.
TEST(PlaneMatch, IsNearTheTextbookOfEachSample) {
  int compared = 0;
  for (const unsigned seed : {4u, 5u, 6u}) {
    const WorldPlane plane{normalized(Vec3d{0.3, 0.2, -1}), -3};
    const Photos photos(plane, 0.15, seed);
    compared += compare(photos, plane, 0.03);
    compared += compare(photos, {normalized(Vec3d{0.3, 0.25, -1}), -2.8}, 0.03);
  }
  EXPECT_GT(compared, 5000);
}

TEST(PlaneMatch, IsHighAlongTheRightPlaneOnly) {
  const WorldPlane plane{normalized(Vec3d{0.3, 0.2, -1}), -3};
  const Photos photos(plane, 0.1, 7);
  const PlaneView view = photos.view(0);
  PlaneMatch match(view, photos.sources);
  const auto mean = [&](const WorldPlane& along) {
    match.set_plane({along, view.camera, view.cam_from_world});
    double sum = 0;
    int count = 0;
    for (int y = 14; y < view.camera.height - 14; ++y)
      for (int x = 14; x < view.camera.width - 14; ++x)
        if (const float zncc = match.zncc(x, y); !std::isnan(zncc)) {
          sum += static_cast<double>(zncc);
          ++count;
        }
    EXPECT_GT(count, 500);
    return sum / count;
  };
  EXPECT_GT(mean(plane), 0.98);
  EXPECT_LT(mean({plane.normal, -1.4}), 0.7);
}

TEST(PlaneMatch, IsUnknownWhereFewerThanTwoSourcesSeeTheWindow) {
  const WorldPlane plane{{0, 0, -1}, -3};
  const Photos photos(plane, 0, 8);
  const PlaneView view = photos.view(0);
  const PlaneView away{view.camera, turned(0, 3, 0, {}), {}, view.grey};
  for (const int seeing : {0, 1, 2}) {
    std::vector<PlaneView> sources(3, away);
    for (int i = 0; i < seeing; ++i) sources[static_cast<std::size_t>(i)] = view;
    PlaneMatch match(view, sources);
    match.set_plane({plane, view.camera, view.cam_from_world});
    EXPECT_EQ(std::isnan(match.zncc(40, 30)), seeing < 2) << seeing;
    if (seeing == 2) {
      EXPECT_NEAR(match.zncc(40, 30), 1, 1e-5f);
    }
  }
}

TEST(PlaneMatch, OfTheTwoBestSourcesCounts) {
  const WorldPlane plane{{0, 0, -1}, -3};
  const Photos photos(plane, 0, 9), others(plane, 0, 10);
  const PlaneView view = photos.view(0), other = others.view(0);
  for (const int good : {1, 2, 3}) {
    std::vector<PlaneView> sources(4, PlaneView{view.camera, view.cam_from_world, {}, other.grey});
    for (int i = 0; i < good; ++i) sources[static_cast<std::size_t>(3 - i)] = view;
    PlaneMatch match(view, sources);
    match.set_plane({plane, view.camera, view.cam_from_world});
    int high = 0;
    for (int x = 10; x < 70; ++x) high += match.zncc(x, 30) > 0.999f;
    EXPECT_EQ(high, good > 1 ? 60 : 0);
  }
}

TEST(PlaneMatch, HasTextureWhereGreyLevelsVaryInTheWholeWindow) {
  const Pinhole camera{40, 30, 40, 40, 20, 15};
  Image<std::uint8_t> grey(40, 30, std::uint8_t{100});
  // Columns of 94 and 106: a variance of 36 less what the share of each in 5 columns makes of it.
  for (int y = 0; y < 30; ++y)
    for (int x = 20; x < 40; ++x) grey(x, y) = x % 4 < 2 ? 94 : 107;
  for (int y = 0; y < 30; ++y) grey(10, y) = 104;
  const PlaneView view{camera, {}, {}, grey.view()};
  const std::vector<PlaneView> none;
  const PlaneMatch match(view, none);
  EXPECT_TRUE(match.has_texture(30, 15));
  EXPECT_FALSE(match.has_texture(5, 15)) << "constant";
  EXPECT_FALSE(match.has_texture(10, 15)) << "4 grey levels";
  for (int y = 0; y < 30; ++y)
    for (int x = 20; x < 40; ++x)
      EXPECT_EQ(match.has_texture(x, y), x < 36 && y >= 4 && y < 26 && match.has_texture(x, 15))
          << x << " " << y;
  EXPECT_FALSE(match.has_texture(36, 15)) << "leaves the image";
  EXPECT_TRUE(match.has_texture(35, 15));
  EXPECT_FALSE(match.has_texture(-1, 40));
}

}  // namespace
}  // namespace recon

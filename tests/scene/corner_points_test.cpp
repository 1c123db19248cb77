// Corners of views that are exact images of known points, and some that are not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "scene/epipolar_check.hpp"
#include "scene/synthetic_scene.hpp"

namespace recon {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const Pinhole kCamera{400, 300, 380, 380, 200, 150};

/// Views side by side, `step` apart, that look along z.
std::vector<CalibratedView> row(int count, double step) {
  std::vector<CalibratedView> views;
  for (int i = 0; i < count; ++i) views.push_back({kCamera, Pose{identity<double>(), {-step * i, 0, 0}}});
  return views;
}

Vec2d image_of(const CalibratedView& view, Vec3d x) {
  return view.camera.project(view.cam_from_world * x);
}

/// The match of the images of a point, that of the source moved by `error` pixels.
ViewMatch match_of(const std::vector<CalibratedView>& views, int reference, int source, Vec3d x,
                   Vec2d error = {0, 0}) {
  const Vec2d at = image_of(views[source], x);
  return {reference, source, {image_of(views[reference], x), {at.x + error.x, at.y + error.y}}};
}

std::vector<int> views_of(const SparsePoint& point) {
  std::vector<int> views;
  for (const TrackElement& element : point.track) views.push_back(element.view);
  return views;
}

TEST(CornerPoints, AreThePointsWhoseImagesTheyAre) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> side(-1, 1), depth(2, 20);
  std::vector<CalibratedView> views;
  for (int i = 0; i < 5; ++i)
    views.push_back({kCamera, test::looking_at({0.5 * i, 0.1 * side(random), -0.1 * i}, {1, 0, 8})});
  std::vector<Vec3d> truth;
  std::vector<ViewMatch> matches;
  for (int i = 0; i < 40; ++i) {
    const double z = depth(random);
    truth.push_back({1 + 0.3 * z * side(random), 0.2 * z * side(random), z});
    for (int source = 1; source < 5; ++source) matches.push_back(match_of(views, 0, source, truth.back()));
  }
  std::ranges::shuffle(matches, random);
  const std::vector<SparsePoint> points = triangulate_corners(views, matches, 2, 1);
  ASSERT_THAT(points, SizeIs(truth.size()));
  for (const SparsePoint& point : points) {
    const auto nearest =
        std::ranges::min_element(truth, {}, [&](Vec3d x) { return norm(x - point.position); });
    EXPECT_LT(norm(*nearest - point.position), 1e-9 * norm(*nearest));
    EXPECT_EQ(point.track.front().view, 0);
    EXPECT_THAT(point.track, SizeIs(5));
  }
}

TEST(CornerPoints, WrongMatchesOfACornerAreLeftOut) {
  const auto views = row(4, 0.5);
  const Vec3d x{0.3, 0.2, 6};
  // One along the epipolar line, which the depth of the others contradicts; one beside it.
  for (const Vec2d error : {Vec2d{-9, 0}, Vec2d{0, 4}}) {
    const std::vector<SparsePoint> points = triangulate_corners(
        views, {match_of(views, 1, 2, x, error), match_of(views, 1, 0, x), match_of(views, 1, 3, x)}, 2, 1);
    ASSERT_THAT(points, SizeIs(1));
    EXPECT_LT(norm(points[0].position - x), 1e-9);
    EXPECT_THAT(views_of(points[0]), testing::ElementsAre(1, 0, 3));
  }
}

TEST(CornerPoints, NeedSoManySourcesThatAgree) {
  const auto views = row(3, 0.5);
  const Vec3d x{0.3, 0.2, 6};
  const ViewMatch right = match_of(views, 0, 1, x), wrong = match_of(views, 0, 2, x, {12, 0});
  EXPECT_THAT(triangulate_corners(views, {right}, 1, 1), SizeIs(1));
  EXPECT_THAT(triangulate_corners(views, {right}, 2, 1), IsEmpty());
  EXPECT_THAT(triangulate_corners(views, {right, wrong}, 2, 1), IsEmpty());
  EXPECT_THAT(triangulate_corners(views, {right, match_of(views, 0, 2, x, {1, 1})}, 2, 1), SizeIs(1));
}

TEST(CornerPoints, NeedAnAngle) {
  const auto views = row(2, 0.1);
  // 0.1 at depth 6 is 0.955 degrees, at depth 5 1.146.
  EXPECT_THAT(triangulate_corners(views, {match_of(views, 0, 1, {0.05, 0, 6})}, 1, 1), IsEmpty());
  EXPECT_THAT(triangulate_corners(views, {match_of(views, 0, 1, {0.05, 0, 5})}, 1, 1), SizeIs(1));
}

TEST(CornerPoints, LieInFrontOfBothCameras) {
  const auto views = row(2, 0.5);
  const Vec2d at = image_of(views[0], {0, 0, 6});
  // A source to the right sees what is in front to the left of where it would see infinity.
  EXPECT_THAT(triangulate_corners(views, {{0, 1, {at, {at.x + 30, at.y}}}}, 1, 1), IsEmpty());
  EXPECT_THAT(triangulate_corners(views, {{0, 1, {at, at}}}, 1, 1), IsEmpty());
  EXPECT_THAT(triangulate_corners(views, {{0, 1, {at, {at.x - 30, at.y}}}}, 1, 1), SizeIs(1));
}

}  // namespace
}  // namespace recon

#include "scene/depth_range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scene/sparse_index.hpp"
#include "scene/view_selection.hpp"
#include "tests/scene/synthetic_scene.hpp"

namespace recon {
namespace {

using namespace recon::test;

std::vector<DepthRange> ranges(const Scene& scene, const DepthRange& bounds = kAnyDepth) {
  std::vector<DepthRange> result;
  for (const DepthRange& range : expected_ranges(scene, select_sources(scene, {})))
    result.push_back(bounded(range, bounds));
  return result;
}

DepthRange searched(const Scene& scene) {
  const SceneIndex index(scene);
  const auto sources = select_sources(index, {});
  return search_range(index, 0, sources[0], expected_ranges(index, sources)[0]);
}

/// Two views side by side in front of `count` points with uniform depths from `near` to `far`, over the whole
/// image.
Scene slope(int count, double near, double far) {
  Scene scene = empty_scene();
  add_view(scene, looking_at({0, 0, 0}, {0, 0, 1}));
  add_view(scene, looking_at({0.1, 0, 0}, {0.1, 0, 1}));
  for (int i = 0; i < count; ++i) {
    const double z = near + (far - near) * i / (count - 1);
    add_point(scene, {z * 0.4 * std::sin(2.0 * i), z * 0.3 * std::cos(3.0 * i), z});
  }
  return scene;
}

TEST(DepthRange, CoversThePointsSeenAndLittleMore) {
  const DepthRange range = ranges(slope(500, 2, 5))[0];
  EXPECT_LT(range.near, 2);
  EXPECT_GT(range.near, 1);
  EXPECT_GT(range.far, 5);
  EXPECT_LT(range.far, 14);
}

TEST(DepthRange, AFlatSceneGetsAMargin) {
  const DepthRange range = ranges(slope(500, 2, 2.0001))[0];
  EXPECT_NEAR(range.near, 1.5, 0.01);
  EXPECT_NEAR(range.far, 2.5, 0.01);
}

TEST(DepthRange, AFewWrongPointsMoveItLittle) {
  Scene scene = slope(1000, 2, 5);
  for (int i = 0; i < 4; ++i) {
    add_point(scene, {0.001 * i, 0, 0.01});
    add_point(scene, {100.0 * i, 0, 1000});
  }
  const DepthRange range = ranges(scene)[0];
  EXPECT_GT(range.near, 1);
  EXPECT_LT(range.far, 14);
}

/// Wrong points all over the image, at depths from a tenth to ten times those of the surface.
TEST(DepthRange, IsolatedWrongPointsChangeNothing) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> side(-1, 1);
  const Scene clean = slope(1000, 2, 3);
  Scene scene = clean;
  for (int i = 0; i < 100; ++i) {
    const double z = 2.5 * std::pow(10, side(random));
    add_point(scene, {z * 0.55 * side(random), z * 0.4 * side(random), z});
  }
  const DepthRange with = ranges(scene)[0], without = ranges(clean)[0];
  EXPECT_NEAR(with.near, without.near, 0.05 * without.near);
  EXPECT_NEAR(with.far, without.far, 0.05 * without.far);
}

TEST(SearchRange, GoesFromHalfTheNearestDepthToWhereTheParallaxVanishes) {
  const Scene scene = slope(500, 2, 5);
  const DepthRange expected = ranges(scene)[0], range = searched(scene);
  EXPECT_NEAR(range.near, 0.5 * expected.near, 1e-9);
  EXPECT_NEAR(range.far, 50 / 1.5, 1e-9) << "f b = 50 pixels times depth, and 1.5 pixels";
}

TEST(SearchRange, BeginsWhereTheSourcesSeeWhatTheViewSees) {
  // Two views 90 degrees apart see nothing in common near the cameras.
  Scene scene = ring(2, 50);
  add_cube(scene, 0.1);
  const DepthRange expected = ranges(scene)[0], range = searched(scene);
  EXPECT_GT(range.near, 0.5 * expected.near);
  EXPECT_LE(range.near, expected.near);
  EXPECT_GE(range.far, expected.far);
}

/// Their images or inverse depths are no finite numbers.
TEST(DepthRange, AbsurdPointsDoNotCount) {
  const DepthRange without = ranges(slope(500, 2, 5))[0];
  Scene scene = slope(500, 2, 5);
  for (const Vec3d x :
       {Vec3d{0, 0, 1e-300}, {0, 0, 1e-310}, {1e100, 0, 1e-60}, {1e153, 0, 0.01}, {0, 0, 1e300}})
    for (int i = 0; i < 20; ++i) add_point(scene, x);
  const DepthRange range = ranges(scene)[0];
  EXPECT_EQ(range.near, without.near);
  EXPECT_EQ(range.far, without.far);
}

TEST(DepthRange, BareGroundBeforeTheCameraCounts) {
  // A wall with many points, and ground at the bottom of the image with one in 150 of the points.
  Scene scene = slope(3000, 4, 4.5);
  for (int i = 0; i < 20; ++i) add_point(scene, {2.7 * (i / 20.0 - 0.5), 1.0, 2.7 - 0.005 * i});
  EXPECT_LT(ranges(scene)[0].near, 2.5);
}

TEST(DepthRange, AViewWithFewPointsTakesAllInItsImage) {
  Scene scene = slope(500, 2, 5);
  for (SparsePoint& point : scene.points.edit())
    std::erase_if(point.track, [](const TrackElement& e) { return e.view == 0; });
  for (View& view : scene.views) view.observations.clear();
  const DepthRange range = ranges(scene)[0];
  EXPECT_LT(range.near, 2);
  EXPECT_GT(range.far, 5);
  EXPECT_LT(range.far, 14);
}

TEST(DepthRange, ParallelViewsWithoutPointsGoFromHalfAnImageToAPixelOfDisparity) {
  const Scene scene = slope(0, 1, 2);
  const DepthRange range = ranges(scene)[0];
  // f b = 50 pixels times depth: 320 pixels at 0.156, 1.5 pixels at 33.3.
  EXPECT_NEAR(range.near, 50 / 320.0, 0.05 * 50 / 320.0);
  EXPECT_NEAR(range.far, 50 / 1.5, 1e-9);
}

TEST(DepthRange, ViewsThatLookTogetherWithoutPointsSeeWhatTheyLookAt) {
  for (const DepthRange& range : ranges(ring(20, 9))) {
    EXPECT_GT(range.near, 0.2);
    EXPECT_LT(range.near, 0.5);
    EXPECT_GT(range.far, 1.5);
    EXPECT_LE(range.far, 5.001);
  }
}

TEST(DepthRange, GeometryKnowsSizesAndRectangularPixels) {
  Scene scene = slope(0, 1, 2);
  scene.cameras = {{CameraModel::kPinhole, 640, 480, {500, 400, 320, 240}},
                   {CameraModel::kPinhole, 1280, 300, {1000, 900, 640, 150}}};
  scene.views[1].camera = 1;
  const DepthRange range = ranges(scene)[0];
  const double moved = std::sqrt(1000.0 * 900) * 0.1;  // in the source
  EXPECT_NEAR(range.far, moved / 1.5, 1e-9);
}

TEST(DepthRange, FlagsWinAndEachAlone) {
  const Scene scene = slope(500, 2, 5);
  const DepthRange estimate = ranges(scene)[0];
  for (const DepthRange& r : ranges(scene, {.near = 3, .far = 4})) {
    EXPECT_EQ(r.near, 3);
    EXPECT_EQ(r.far, 4);
  }
  const DepthRange near = ranges(scene, {0.5, kAnyDepth.far})[0];
  EXPECT_EQ(near.near, 0.5);
  EXPECT_EQ(near.far, estimate.far);
  const DepthRange far = ranges(scene, {0, 3})[0];
  EXPECT_EQ(far.near, estimate.near);
  EXPECT_EQ(far.far, 3);
  const DepthRange beyond = ranges(scene, {50, kAnyDepth.far})[0];
  EXPECT_EQ(beyond.far, 100);
  const DepthRange before = ranges(scene, {0, 0.1})[0];
  EXPECT_EQ(before.near, 0.05);
}

TEST(DepthRange, ThatIsExpectedLiesWithinTheSearched) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-3, 3);
  for (int i = 0; i < 20000; ++i) {
    std::array<double, 4> ends{};
    for (double& end : ends) end = std::pow(10, exponent(random));
    std::sort(ends.begin(), ends.end());
    const DepthRange expected{ends[1], ends[2], i % 2 == 0};
    DepthRange bounds = kAnyDepth;
    const double a = std::pow(10, exponent(random)), b = std::pow(10, exponent(random));
    if (i % 3 != 0) bounds.near = std::min(a, b);
    if (i % 3 != 1) bounds.far = std::max(a, b);
    const DepthRange range = bounded({ends[0], ends[3]}, bounds);
    const DepthRange within = bounded(expected, bounds, range);
    ASSERT_GE(within.near, range.near) << bounds.near << " " << bounds.far;
    ASSERT_LE(within.far, range.far) << bounds.near << " " << bounds.far;
    ASSERT_LT(within.near, within.far);
    EXPECT_EQ(within.guessed, expected.guessed);
  }
}

TEST(DepthRange, RefusesContradictingFlags) {
  const Scene scene = slope(50, 2, 5);
  for (const DepthRange& wrong :
       std::initializer_list<DepthRange>{{4, 3}, {3, 3}, {-1, kAnyDepth.far}, {NAN, 3}, {0, NAN}})
    EXPECT_THROW(ranges(scene, wrong), std::logic_error);
}

TEST(DepthRange, OfAViewAloneNothingIsKnown) {
  const DepthRange range = ranges(ring(1, 1))[0];
  EXPECT_EQ(range.near, kUnknownDepthRange.near);
  EXPECT_EQ(range.far, kUnknownDepthRange.far);
}

TEST(DepthRange, AnyNumberOfThreadsGivesTheSameRanges) {
  Scene scene = ring(30, 10);
  add_cube(scene, 0.2);
  std::vector<DepthRange> one, many;
  ThreadLimit(1).run([&] { one = ranges(scene); });
  ThreadLimit(4).run([&] { many = ranges(scene); });
  for (std::size_t v = 0; v < one.size(); ++v) {
    EXPECT_EQ(one[v].near, many[v].near);
    EXPECT_EQ(one[v].far, many[v].far);
  }
}

TEST(PointBlocks, HoldAllPointsOfTheImageAndFewOthers) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> side(-50, 50);
  Scene scene;
  scene.camera_ids = {1, 2, 3};
  scene.cameras = {{CameraModel::kPinhole, 400, 300, {400, 400, 200, 150}},
                   {CameraModel::kOpenCv, 400, 300, {300, 310, 180, 160, -0.2, 0.05, 0.002, -0.003}},
                   {CameraModel::kOpenCvFisheye, 400, 300, {100, 100, 200, 150, 0.01, 0, 0, 0}}};
  for (int i = 0; i < 60; ++i) {
    View view;
    view.camera = i % 3;
    const double angle = 0.7 * i, c = std::cos(angle), s = std::sin(angle);
    view.cam_from_world.rotation = {{c, 0, -s, 0, 1, 0, s, 0, c}};
    view.cam_from_world.translation =
        -(view.cam_from_world.rotation * Vec3d{side(random), 0.1 * side(random), side(random)});
    scene.views.push_back(view);
  }
  for (std::uint64_t i = 0; i < 5000; ++i) {
    SparsePoint point;
    point.id = i;
    point.position = {side(random), side(random), side(random)};
    scene.points.push_back(point);
  }
  const SceneGeometry views(scene);
  const PointBlocks blocks(scene);
  std::size_t found = 0;
  for (int v = 0; v < views.size(); ++v) {
    const std::vector<int> near = blocks.near_image(views[v]);
    ASSERT_TRUE(std::is_sorted(near.begin(), near.end()));
    for (int p = 0; p < 5000; ++p) {
      const bool held = std::binary_search(near.begin(), near.end(), p);
      ASSERT_TRUE(held || !views[v].sees(scene.points[static_cast<std::size_t>(p)].position))
          << v << " " << p;
    }
    if (v % 3 == 0) found += near.size();
  }
  EXPECT_LT(found, 20u * 5000 / 4) << "of the pinhole, which sees a twelfth of all directions";
  EXPECT_TRUE(PointBlocks(Scene{}).near_image(views[0]).empty());
}

}  // namespace
}  // namespace recon

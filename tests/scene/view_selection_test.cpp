#include "scene/view_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/parallel.hpp"
#include "scene/sparse_index.hpp"
#include "tests/scene/synthetic_scene.hpp"

namespace recon {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;
using namespace recon::test;

TEST(SelectSources, PrefersTenToFifteenDegrees) {
  // Views at 0, 2, 12, 30 and 70 degrees see the same points.
  Scene scene = empty_scene();
  for (const double degrees : {0.0, 2.0, 12.0, 30.0, 70.0}) {
    const double angle = degrees * kPi / 180;
    add_view(scene, looking_at({std::sin(angle), 0, -std::cos(angle)}, {0, 0, 0}));
  }
  add_cube(scene, 0.05);
  const auto sources = select_sources(scene, {});
  EXPECT_THAT(sources[0], ElementsAre(2, 3, 1));  // 70 degrees is too large
  EXPECT_THAT(sources[3], ElementsAre(2, 1, 0, 4));
}

TEST(SelectSources, MinimumAngleIsThatOfThe75thPercentile) {
  // From a distance of 1, a baseline of 0.03 gives 1.7 degrees, from 3 it gives 0.57.
  Scene scene = empty_scene();
  add_view(scene, looking_at({0, 0, 0}, {0, 0, 1}));
  add_view(scene, looking_at({0.03, 0, 0}, {0.03, 0, 1}));
  const auto with_points = [&](int near, int far) {
    Scene s = scene;
    for (int i = 0; i < near; ++i) add_point(s, {0.01 * i, 0, 1});
    for (int i = 0; i < far; ++i) add_point(s, {0.01 * i, 0.1, 3});
    return s;
  };
  EXPECT_THAT(select_sources(with_points(40, 60), {})[0], ElementsAre(1));
  EXPECT_THAT(select_sources(with_points(20, 80), {})[0], IsEmpty());
  ViewSelectionOptions strict;
  strict.min_angle_degrees = 2;
  EXPECT_THAT(select_sources(with_points(40, 60), strict)[0], IsEmpty());
  EXPECT_THAT(select_sources(with_points(40, 60), strict)[1], IsEmpty());
}

TEST(SelectSources, MoreSharedPointsWin) {
  Scene scene = empty_scene();
  add_view(scene, looking_at({0, 0, -1}, {0, 0, 0}));
  add_view(scene, looking_at({0.2, 0, -1}, {0, 0, 0}));
  add_view(scene, looking_at({-0.2, 0, -1}, {0, 0, 0}));
  add_cube(scene, 0.1);
  // The first of the two mirrored sources loses a third of its points.
  for (std::size_t p = 0; p < scene.points.size(); p += 3)
    std::erase_if(scene.points.edit()[p].track, [](const TrackElement& e) { return e.view == 1; });
  EXPECT_THAT(select_sources(scene, {})[0], ElementsAre(2, 1));
}

TEST(SelectSources, TiesGoToTheLowestIndex) {
  Scene scene = empty_scene();
  for (const double x : {0.0, 0.25, 0.25, 0.25}) add_view(scene, looking_at({x, 0, -1}, {0, 0, 0}));
  add_cube(scene, 0.05);
  EXPECT_THAT(select_sources(scene, {})[0], ElementsAre(1, 2, 3));
}

TEST(SelectSources, PrefersLikeResolution) {
  // Three sources at the same angle: at the distance of the reference, three times it, a third of it.
  Scene scene = empty_scene();
  add_view(scene, looking_at({0, 0, -1}, {0, 0, 0}));
  const double angle = 12 * kPi / 180;
  for (const double distance : {3.0, 1.0, 1.0 / 3})
    add_view(scene, looking_at({distance * std::sin(angle), 0, -distance * std::cos(angle)}, {0, 0, 0}));
  add_cube(scene, 0.01);
  // Three times the resolution still scores 2/3, a third of it 1/3.
  EXPECT_THAT(select_sources(scene, {})[0], ElementsAre(2, 3, 1));
}

TEST(SelectSources, ResolutionIsThatOfEachCamera) {
  // A longer focal length on an image of another size compensates for the distance.
  Scene scene = empty_scene();
  scene.cameras.push_back({CameraModel::kPinhole, 1920, 1000, {1500, 1400, 960, 500}});
  add_view(scene, looking_at({0, 0, -1}, {0, 0, 0}));
  const double angle = 12 * kPi / 180;
  const Vec3d away{3 * std::sin(angle), 0, -3 * std::cos(angle)};
  add_view(scene, looking_at(away, {0, 0, 0}));
  add_view(scene, looking_at(away, {0, 0, 0}), 1);
  add_cube(scene, 0.01);
  EXPECT_THAT(select_sources(scene, {})[0], ElementsAre(2, 1));
}

TEST(SelectSources, TracksMayBeKnownFromObservationsOnly) {
  Scene scene = ring(8, 11);
  add_cube(scene, 0.1);
  const auto expected = select_sources(scene, {});
  EXPECT_THAT(expected[0], SizeIs(5));  // up to 55 degrees
  Scene by_observations = scene;
  for (SparsePoint& point : by_observations.points.edit()) point.track.clear();
  EXPECT_EQ(select_sources(by_observations, {}), expected);
  Scene by_tracks = scene;
  for (View& view : by_tracks.views) view.observations.clear();
  EXPECT_EQ(select_sources(by_tracks, {}), expected);
}

TEST(SelectSources, TakesNoMoreThanAsked) {
  Scene scene = ring(12, 6);
  add_cube(scene, 0.1);
  ViewSelectionOptions options;
  options.max_sources = 3;
  for (const auto& sources : select_sources(scene, options)) EXPECT_THAT(sources, SizeIs(3));
}

TEST(SelectSources, GeometryAloneFindsNeighboursOfARing) {
  const Scene scene = ring(30, 12);
  const auto sources = select_sources(scene, {});
  for (int v = 0; v < 30; ++v) {
    ASSERT_THAT(sources[v], SizeIs(10)) << "all within 60 degrees";
    // 12 degrees to either side first, and none beyond 60.
    EXPECT_THAT((std::vector<int>{sources[v][0], sources[v][1]}),
                UnorderedElementsAre((v + 1) % 30, (v + 29) % 30));
    for (const int s : sources[v]) EXPECT_LE(std::min((s - v + 30) % 30, (v - s + 30) % 30), 5);
  }
}

TEST(SelectSources, GeometryAloneRejectsRotatedAndUnmovedViews) {
  Scene scene = empty_scene();
  add_view(scene, looking_at({0, 0, 0}, {0, 0, 1}));
  add_view(scene, looking_at({0.1, 0, 0}, {0.1, 0, 1}));
  add_view(scene, looking_at({0.2, 0, 0}, {0.2, 0, 1}));
  add_view(scene, looking_at({0.1, 0, 0}, {0.1, 0, -1}));  // looks back
  add_view(scene, looking_at({0, 0, 0}, {0.1, 0, 1}));     // the first view, rotated
  const auto sources = select_sources(scene, {});
  EXPECT_THAT(sources[0], UnorderedElementsAre(1, 2));
  EXPECT_THAT(sources[1], Not(::testing::Contains(3)));
  EXPECT_THAT(sources[3], IsEmpty());
}

TEST(SelectSources, GeometryHelpsAViewThatSharesNoPoint) {
  Scene scene = ring(8, 12);
  add_cube(scene, 0.1);
  for (SparsePoint& point : scene.points.edit())
    std::erase_if(point.track, [](const TrackElement& e) { return e.view == 3; });
  const auto sources = select_sources(scene, {});
  EXPECT_THAT((std::vector<int>{sources[3][0], sources[3][1]}), UnorderedElementsAre(2, 4));
  for (int v = 0; v < 8; ++v) EXPECT_THAT(sources[v], Not(::testing::Contains(v)));
  EXPECT_THAT(sources[2], Not(::testing::Contains(3)));  // enough sources share points with it
}

TEST(SelectSources, RollOfTheCameraDoesNotMatter) {
  Scene upright = ring(10, 9);
  add_cube(upright, 0.1);
  Scene rolled = ring(10, 9);
  for (std::size_t v = 0; v < rolled.views.size(); v += 2) {
    const Pose quarter{{{0, -1, 0, 1, 0, 0, 0, 0, 1}}, {0, 0, 0}};
    rolled.views[v].cam_from_world = quarter * rolled.views[v].cam_from_world;
  }
  add_cube(rolled, 0.1);
  // The samples of the points are others, as the cells of the image are.
  const auto found = select_sources(rolled, {}), expected = select_sources(upright, {});
  for (std::size_t v = 0; v < expected.size(); ++v) {
    EXPECT_THAT(found[v], UnorderedElementsAreArray(expected[v]));
    EXPECT_EQ(found[v][0], expected[v][0]);
  }
}

/// A camera that moves along a corridor and looks ahead, with points on both walls.
Scene corridor(int views) {
  Scene scene = empty_scene();
  for (int v = 0; v < views; ++v) add_view(scene, looking_at({0, 0, 0.2 * v}, {0, 0, 0.2 * v + 1}));
  for (int z = 0; z < 60; ++z)
    for (const double y : {-0.5, 0.0, 0.5})
      for (const double x : {-1.0, 1.0}) add_point(scene, {x, y, 0.2 * z});
  return scene;
}

TEST(SelectSources, SomeLieBehindWhereTheCameraMovesForward) {
  // Those ahead show the middle of the image alone, those behind its border too, less finely.
  const Scene scene = corridor(40);
  Scene without_points = scene;
  without_points.points = {};
  for (View& view : without_points.views) view.observations.clear();
  ViewSelectionOptions options;
  options.max_sources = 8;
  for (const Scene& s : {scene, without_points}) {
    const auto sources = select_sources(s, options);
    for (int v = 10; v < 30; ++v) {
      const auto behind = std::ranges::count_if(sources[v], [v](int source) { return source < v; });
      EXPECT_GE(behind, 2) << v;
    }
  }
}

TEST(SelectSources, AllPartsOfTheImageCountAlike) {
  // Most points lie in one place, which the first three sources see; the last two see the other half.
  Scene scene = empty_scene();
  add_view(scene, looking_at({0, 0, -1}, {0, 0, 0}));
  for (const double x : {0.2, 0.21, 0.22}) add_view(scene, looking_at({x, 0, -1}, {-0.5, 0, 0}));
  for (const double x : {0.2, 0.21}) add_view(scene, looking_at({x, 0, -1}, {1.2, 0, 0}));
  for (int i = 0; i < 400; ++i) add_point(scene, {-0.5 + 0.0001 * i, 0, 0});
  for (int i = 0; i < 20; ++i) add_point(scene, {0.3 + 0.01 * i, -0.3 + 0.03 * i, 0});
  ViewSelectionOptions options;
  options.max_sources = 2;
  EXPECT_THAT(select_sources(scene, options)[0], UnorderedElementsAre(AnyOf(1, 2, 3), AnyOf(4, 5)));
}

/// The views whose angles at the points that they share with `reference` fit, each angle computed and sorted.
std::vector<int> fitting_views(const Scene& scene, int reference, const ViewSelectionOptions& options) {
  const auto centre = [&](int view) {
    const Pose& pose = scene.views[view].cam_from_world;
    return transpose(pose.rotation) * -pose.translation;
  };
  const auto sees = [&](const SparsePoint& point, int view) {
    return std::ranges::any_of(point.track, [view](const TrackElement& e) { return e.view == view; });
  };
  std::vector<int> fitting;
  for (int source = 0; source < std::ssize(scene.views); ++source) {
    if (source == reference) continue;
    std::vector<double> angles;
    bool useful = false;
    for (const SparsePoint& point : scene.points) {
      if (!sees(point, reference) || !sees(point, source)) continue;
      const Vec3d a = centre(reference) - point.position, b = centre(source) - point.position;
      const double angle = std::atan2(norm(cross(a, b)), dot(a, b)) * 180 / kPi;
      useful |= angle > 0 && angle <= options.max_angle_degrees;
      angles.push_back(static_cast<double>(static_cast<float>(angle)));
    }
    std::ranges::sort(angles);
    if (useful && angles.size() >= 5 && angles[(angles.size() - 1) * 3 / 4] >= options.min_angle_degrees &&
        angles[(angles.size() - 1) / 2] <= options.max_angle_degrees)
      fitting.push_back(source);
  }
  return fitting;
}

TEST(SelectSources, AreThoseWhoseComputedAnglesFit) {
  // From a circle around some of the centres all angles are the same up to rounding, which then decides.
  std::mt19937 random(19);
  std::uniform_real_distribution<double> turn(0.2, 0.45), offset(-0.2, 0.2);
  int compared = 0, chosen = 0;
  for (int round = 0; round < 60; ++round) {
    Scene scene = empty_scene();
    std::vector<double> places;
    for (int v = 0; v < 7; ++v) places.push_back(turn(random));
    const auto on_circle = [](double at) { return Vec3d{std::sin(2 * kPi * at), 0, std::cos(2 * kPi * at)}; };
    for (const double at : places) add_view(scene, looking_at(on_circle(at + 0.17), {0, 0, 0.9}));
    for (int i = 0; i < 600; ++i) {
      Vec3d x = on_circle((i - 300) / 4000.0);
      if (round % 2 == 1) x = x + Vec3d{offset(random), offset(random), offset(random)};
      add_point(scene, x);
    }
    // Angles of a chord are half of those from the centre.
    const double angle = 180 * std::abs(places[0] - places[1]);
    ViewSelectionOptions options;
    options.max_sources = 100;
    (round % 4 < 2 ? options.min_angle_degrees : options.max_angle_degrees) =
        static_cast<double>(static_cast<float>(angle));
    if (options.min_angle_degrees > options.max_angle_degrees) continue;
    const auto found = select_sources(scene, options);
    for (int view = 0; view < 7; ++view) {
      const std::vector<int> expected = fitting_views(scene, view, options);
      if (expected.size() < 2) continue;  // others are added
      EXPECT_THAT(found[view], UnorderedElementsAreArray(expected)) << round << ' ' << view;
      ++compared;
      chosen += static_cast<int>(expected.size());
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_LT(chosen, compared * 6) << "some do not fit";
}

TEST(SelectSources, NoViewsAndOneView) {
  EXPECT_THAT(select_sources(Scene{}, {}), IsEmpty());
  EXPECT_THAT(select_sources(ring(1, 1), {})[0], IsEmpty());
}

TEST(SelectSources, LongTracksAreThinnedFairly) {
  // Every point is seen by all 400 views; the nearest useful neighbours are still found, on both sides.
  Scene scene = ring(400, 0.9);
  add_cube(scene, 0.05, 4);
  const auto sources = select_sources(scene, {});
  for (int v = 0; v < 400; v += 37) {
    ASSERT_THAT(sources[v], SizeIs(ViewSelectionOptions{}.max_sources));
    for (const int s : sources[v]) {
      const int apart = std::min((s - v + 400) % 400, (v - s + 400) % 400);
      EXPECT_GE(apart, 8);
      EXPECT_LE(apart, 26);
    }
  }
}

TEST(SelectSources, AnyNumberOfThreadsGivesTheSameSources) {
  Scene scene = ring(40, 9);
  add_cube(scene, 0.1);
  std::vector<std::vector<int>> one, many;
  ThreadLimit(1).run([&] { one = select_sources(scene, {}); });
  ThreadLimit(4).run([&] { many = select_sources(scene, {}); });
  EXPECT_EQ(one, many);
}

TEST(IndexLists, AreThoseOfSortedPairs) {
  std::mt19937 random(5);
  std::set<std::pair<int, int>> expected;
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < 400; ++i) {
    pairs.emplace_back(static_cast<int>(random() % 30), static_cast<int>(random() % 12));
    if (pairs.back().first % 7 != 3) expected.insert(pairs.back());  // some lists are empty
  }
  const IndexLists lists(30, [&](const auto& add) {
    for (const auto& [list, item] : pairs)
      if (list % 7 != 3) add(list, item);
  });
  std::vector<std::pair<int, int>> found;
  for (int list = 0; list < lists.size(); ++list)
    for (const int item : lists[list]) found.emplace_back(list, item);
  EXPECT_EQ(found, std::vector(expected.begin(), expected.end()));
}

TEST(PointsOfViews, AreThoseOfVisibility) {
  Scene scene = ring(6, 10);
  add_cube(scene, 0.5);
  for (std::size_t i = 0; i < scene.points.size(); i += 2)  // known by observations alone
    scene.points.edit()[i].track.clear();
  const Visibility all(scene);
  const std::vector<int> views = {4, 0, 5};
  const IndexLists some = points_of_views(scene, views);
  ASSERT_EQ(some.size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(some[i].empty());
    EXPECT_TRUE(std::ranges::equal(some[i], all.points_of_view[views[i]])) << views[i];
  }
}

TEST(OverlappingViews, AreThoseThatSeeMostBestFirst) {
  // All look at the origin; those 180 degrees apart see each other's background behind it.
  Scene scene = ring(8, 10);
  add_cube(scene, 0.1);
  add_view(scene, looking_at({5, 0, 0}, {9, 0, 0}));  // it looks away
  const SceneIndex index(scene);
  const auto expected = expected_ranges(index, select_sources(index, {}));
  const auto all = overlapping_views(index, expected, 20), two = overlapping_views(index, expected, 2);
  EXPECT_EQ(all[0].size(), 7u);
  EXPECT_EQ(all[0].front(), 1) << "the nearest sees most";
  EXPECT_EQ(two[0], (std::vector<int>{all[0][0], all[0][1]}));
  for (const int view : all[3]) EXPECT_NE(view, 8);
}

TEST(NearestViews, AreThoseThatSortingFinds) {
  // On a grid, so that many are equally far; two views share each place.
  std::mt19937 random(46);
  Scene scene = empty_scene();
  for (int v = 0; v < 400; ++v) {
    const auto x = static_cast<double>(random() % 20), y = static_cast<double>(random() % 10);
    add_view(scene, looking_at({x, y, 0}, {x, y, 1}));
  }
  const SceneGeometry views(scene);
  for (const int reference : {0, 1, 200, 399}) {
    std::vector<std::pair<double, int>> all;
    for (int v = 0; v < views.size(); ++v)
      if (v != reference) all.emplace_back(norm(views[v].centre - views[reference].centre), v);
    std::sort(all.begin(), all.end());
    for (const std::size_t count : {0u, 1u, 7u, 256u, 399u, 1000u}) {
      const std::vector<int> nearest = nearest_views(views, reference, static_cast<int>(count));
      ASSERT_THAT(nearest, SizeIs(std::min(count, all.size())));
      for (std::size_t i = 0; i < nearest.size(); ++i) ASSERT_EQ(nearest[i], all[i].second) << i;
    }
  }
}

}  // namespace
}  // namespace recon

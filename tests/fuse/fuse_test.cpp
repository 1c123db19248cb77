#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>

#include "fuse/agreement.hpp"
#include "fuse/fusion.hpp"
#include "fusion_cases.hpp"

namespace recon {
namespace {

/// What view `source` says of pixel (x, 15) of view 0.
Agreement agreement(const PlaneViews& scene, int source, int x, float max_relative_depth = 0.01f) {
  ConsistencyOptions options;
  options.max_relative_depth = max_relative_depth;
  Image<Agreement> counts(40, 30, {});
  count_agreement(scene.depth_view(0), scene.depth_view(source), options, counts.view());
  return counts(x, 15);
}

void expect_counts(const Agreement& found, int visible, int known, int agree, int close, int through) {
  EXPECT_EQ(found.visible, visible);
  EXPECT_EQ(found.known, known);
  EXPECT_EQ(found.agree, agree);
  EXPECT_EQ(found.through, through);
  EXPECT_EQ(found.close, close);
}

TEST(CountAgreement, ComparesTheDepthsInTheSource) {
  PlaneViews scene(2);
  expect_counts(agreement(scene, 1, 20), 1, 1, 1, 1, 0);
  // Camera 1 is 0.1 to the right: at depth 2 its image is shifted 2 pixels to the left, so column 1 is
  // outside it.
  expect_counts(agreement(scene, 1, 2), 1, 1, 1, 1, 0);
  expect_counts(agreement(scene, 1, 1), 0, 0, 0, 0, 0);
  scene.maps[1]->depth.fill(2.006f);  // 0.3 % off: it agrees, but not closely
  expect_counts(agreement(scene, 1, 20), 1, 1, 1, 0, 0);
  scene.maps[1]->depth.fill(2.004f);
  expect_counts(agreement(scene, 1, 20), 1, 1, 1, 1, 0);
  scene.maps[1]->depth.fill(2.1f);  // 5 % off
  expect_counts(agreement(scene, 1, 20), 1, 1, 0, 0, 1);
  expect_counts(agreement(scene, 1, 20, 0.06f), 1, 1, 1, 0, 0);
  scene.maps[1]->depth.fill(1.9f);
  expect_counts(agreement(scene, 1, 20), 1, 1, 0, 0, 0);
  scene.maps[1]->depth.fill(kUnknown);
  expect_counts(agreement(scene, 1, 20), 1, 0, 0, 0, 0);
  scene.maps[1]->depth.fill(2.0f);
  scene.maps[0]->depth.fill(kUnknown);
  expect_counts(agreement(scene, 1, 20), 0, 0, 0, 0, 0);
}

TEST(CountAgreement, AsksForNormalsThatAgree) {
  PlaneViews scene(2);
  scene.maps[1]->normal.fill(Vec3f{1, 0, 0});
  expect_counts(agreement(scene, 1, 20), 1, 1, 0, 0, 0);
  scene.maps[1]->normal.fill(Vec3f{kUnknown, kUnknown, kUnknown});
  expect_counts(agreement(scene, 1, 20), 1, 1, 1, 1, 0);
}

TEST(CountAgreement, AddsUpTo255Sources) {
  const PlaneViews scene(2);
  scene.maps[1]->depth.fill(2.0f * 0.9952f);
  Image<Agreement> counts(40, 30, {});
  for (int i = 0; i < 255; ++i) count_agreement(scene.depth_view(0), scene.depth_view(1), {}, counts.view());
  expect_counts(counts(20, 15), 255, 255, 255, 0, 0);
  EXPECT_EQ(counts(20, 15).placed, 255);
  EXPECT_EQ(counts(20, 15).offset, 255 * -122);
}

/// The source has its depths at the centres of pixels, half a pixel from where it sees the points.
TEST(CountAgreement, FindsTheSurfaceOnTheRayOfTheReference) {
  PlaneViews scene(2);
  const double slope = 0.3;  // z = 2 + slope x
  const auto slanted = [&](int view, double share) {
    Image<float>& depth = scene.maps[static_cast<std::size_t>(view)]->depth;
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 40; ++x)
        depth(x, y) = static_cast<float>((2 + slope * 0.105 * view) * share / (1 - slope * (x - 19.5) / 40));
    const float length = static_cast<float>(std::sqrt(1 + slope * slope));
    scene.maps[static_cast<std::size_t>(view)]->normal.fill(
        {static_cast<float>(slope) / length, 0, -1 / length});
  };
  scene.views[1].cam_from_world.translation = {-0.105, 0, 0};
  slanted(0, 1), slanted(1, 1);
  for (int x = 5; x < 35; ++x) {
    const Agreement said = agreement(scene, 1, x);
    EXPECT_EQ(said.placed, 1) << x;
    EXPECT_EQ(said.offset, 0) << x;
  }
  slanted(1, 1.002);
  const Agreement said = agreement(scene, 1, 12);
  ASSERT_EQ(said.placed, 1);
  // The plane n X = n (0, 0, 2) moves by 0.002 of its distance from camera 1.
  EXPECT_NEAR(mean_depth(2.0f, said, 0.01), 2 * (1 + 0.002 * (2 + slope * 0.105) / 2 / 2), 1e-4);
}

TEST(MeanDepth, CountsTheOwnDepthAsOne) {
  Agreement said;
  EXPECT_EQ(mean_depth(3.0f, said, 0.01), 3.0f);
  said.agree = said.placed = 3, said.offset = 2 * kOffsetSteps;
  EXPECT_FLOAT_EQ(mean_depth(3.0f, said, 0.01), 3.0f * 1.0025f);
}

TEST(Fuse, MergesThePlaneIntoOnePointAPixel) {
  PlaneViews scene(3);
  Collected cloud;
  FusionOptions options;
  options.min_views = 3;
  options.spacing = 1;
  const std::uint64_t count = fuse(scene.views, scene, options, cloud);
  ASSERT_EQ(count, cloud.points.size());
  // All three views see columns 4 .. 39 of view 0; only two see the additional pixels of view 1.
  EXPECT_EQ(count, 36u * 30u);
  for (const reference::CloudPoint& p : cloud.points) {
    EXPECT_NEAR(p.position.z, 2.0f, 1e-6f);
    EXPECT_NEAR(p.normal.z, -1.0f, 1e-6f);
    EXPECT_EQ(p.colour, (Rgb8{10, 20, 30})) << "the mean of 0, 10 and 20";
    EXPECT_EQ(p.views, (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_FLOAT_EQ(p.confidence, 0.5f);
  }
  EXPECT_NEAR(cloud.points.front().position.x, (4.5 - 20) / 40 * 2, 1e-6);
  EXPECT_NEAR(cloud.points.front().position.y, (0.5 - 15) / 40 * 2, 1e-6);
}

TEST(Fuse, KeepsPointsApartByTheSpacing) {
  PlaneViews scene(3);
  Collected cloud;
  FusionOptions options;
  options.min_views = 3;
  options.spacing = 2;
  // Every second of columns 4 .. 39 and of 30 rows; each marks its neighbours as used, in the other views
  // too.
  EXPECT_EQ(fuse(scene.views, scene, options, cloud), 18u * 15u);
  // A step in depth: pixels on the other side are not marked.
  for (std::size_t i = 1; i < 3; ++i) scene.maps[i]->depth.fill(kUnknown);
  for (int y = 0; y < 30; ++y)
    for (int x = 1; x < 40; x += 2) scene.maps[0]->depth(x, y) = 3.0f;
  options.min_views = 1;
  Collected stripes;
  EXPECT_EQ(fuse(scene.views, scene, options, stripes), 40u * 15u);
}

TEST(Fuse, DropsPointsThatOtherViewsLookThrough) {
  PlaneViews scene(4);
  // Views 0 and 1 have a surface at 1.5 where 2 and 3 see the plane behind.
  scene.maps[0]->depth.fill(1.5f);
  scene.maps[1]->depth.fill(1.5f);
  Collected cloud;
  FusionOptions options;
  options.min_views = 2;
  fuse(scene.views, scene, options, cloud);
  ASSERT_FALSE(cloud.points.empty());
  for (const reference::CloudPoint& p : cloud.points) {
    const double u2 = (static_cast<double>(p.position.x) - 0.2) / static_cast<double>(p.position.z) * 40 + 20;
    const double u3 = (static_cast<double>(p.position.x) - 0.3) / static_cast<double>(p.position.z) * 40 + 20;
    if (u2 >= 0.5 && u3 >= 0.5) {
      EXPECT_NEAR(p.position.z, 2.0f, 1e-5f) << u2 << " " << u3;
    }
  }
}

TEST(Fuse, KeepsSureDepthsWhereNoOtherViewHasOne) {
  PlaneViews scene(2);
  const auto points = [&](float limit) {
    FusionOptions options;
    options.agreement.min_lone_confidence = limit;
    Collected cloud;
    fuse(scene.views, scene, options, cloud);
    return std::count_if(cloud.points.begin(), cloud.points.end(),
                         [](const auto& point) { return point.view_count == 1; });
  };
  // The second view is two pixels to the right: each sees two columns alone.
  constexpr std::ptrdiff_t kUnseen = (2 + 2) * 30;
  scene.maps[1]->depth(10, 5) = kUnknown;
  scene.maps[1]->depth(20, 5) = 3.0f;
  EXPECT_EQ(points(1.0f), 0);
  EXPECT_EQ(points(0.51f), 0) << "no depth is sure enough";
  EXPECT_EQ(points(0.5f), kUnseen + 1) << "where the other view has another depth, there is no point";
  for (auto& confidence : {&scene.maps[0]->confidence, &scene.maps[1]->confidence})
    *confidence = Image<float>(40, 30, 1.0f);
  EXPECT_EQ(points(1.0f), 0) << "none is kept, however sure";
}

TEST(Fuse, GivesTheSamePointsForAnyNumberOfThreadsAndAnyCache) {
  PlaneViews scene(5);
  for (std::size_t i = 0; i < 5; ++i)
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 40; ++x)
        scene.maps[i]->depth(x, y) +=
            0.01f * static_cast<float>((x * 7 + y * 13 + static_cast<int>(i) * 5) % 11);
  const auto run = [&](int threads, std::size_t cache) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads));
    Collected cloud;
    FusionOptions options;
    options.max_cached_views = cache;
    fuse(scene.views, scene, options, cloud);
    return cloud.points;
  };
  const auto one = run(1, 64), two = run(2, 2);
  ASSERT_EQ(one.size(), two.size());
  ASSERT_GT(one.size(), 100u);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].position.x, two[i].position.x);
    EXPECT_EQ(one[i].position.z, two[i].position.z);
    EXPECT_EQ(one[i].views, two[i].views);
  }
}

TEST(Fuse, LosesNothingFarFromTheOrigin) {
  PlaneViews scene(3);
  FusionOptions options;
  Collected near, far;
  fuse(scene.views, scene, options, near);
  const Vec3d offset{412345, 5651234, 120};
  for (FusionView& view : scene.views)
    view.cam_from_world.translation = view.cam_from_world.translation - view.cam_from_world.rotation * offset;
  fuse(scene.views, scene, options, far);
  ASSERT_EQ(near.points.size(), far.points.size());
  for (std::size_t i = 0; i < near.points.size(); ++i)
    EXPECT_LT(norm(far.points[i].position - offset - near.points[i].position), 1e-8);
}

TEST(FloatsSuffice, AsLongAsRoundingStaysBelowATenthOfTheSpacing) {
  // At depth 2 a pixel of the focal length 40 is 0.05 wide: float errors of up to 0.005 at a spacing of 1 are
  // accepted; they are 2^-24 of the coordinate, so they exceed it from 0.005 * 2^24 = 83886 on.
  const auto at = [](double x) {
    FusionView view{Pinhole{40, 30, 40, 40, 20, 15}, {}, {}};
    view.cam_from_world.translation = {-x, 0, 0};
    return view;
  };
  EXPECT_TRUE(floats_suffice(at(0), 2, 1));
  EXPECT_TRUE(floats_suffice(at(83880), 2, 1));
  EXPECT_FALSE(floats_suffice(at(83890), 2, 1));
  EXPECT_FALSE(floats_suffice(at(-83890), 2, 1));
  EXPECT_TRUE(floats_suffice(at(83890), 2, 2));
  EXPECT_TRUE(floats_suffice(at(83890), 4, 1));
}

}  // namespace
}  // namespace recon

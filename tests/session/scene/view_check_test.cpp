// The check of a view against its sources: which depths it keeps, and that they are means.

#include "session/scene/view_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "fuse/planes/fill_planes.hpp"
#include "fuse/reliability.hpp"
#include "refine/mean_normals.hpp"
#include "session/row_of_views.hpp"

namespace recon {
namespace {

constexpr Pinhole kSmallCamera{40, 30, 40, 40, 20, 15};

/// A wall in front of the camera.
std::shared_ptr<const ViewDepth> wall(float depth) {
  ViewDepth maps = uninitialised_view(kSmallCamera.width, kSmallCamera.height);
  maps.depth.fill(depth);
  maps.normal.fill({0, 0, -1});
  maps.confidence.fill(0.9f);
  return std::make_shared<const ViewDepth>(std::move(maps));
}

/// View `index` of a row of cameras a twentieth apart.
DepthSource view_of_wall(int index, float depth) {
  DepthSource view{kSmallCamera, {}, static_cast<std::uint64_t>(index), [depth] {
                     const auto maps = wall(depth);
                     return DepthSource::Maps{maps->depth.view(), maps->normal.view(), maps};
                   }};
  view.cam_from_world.translation.x = -0.05 * index;
  return view;
}

/// The depth of the pixel in the middle of a wall at `depth`, checked with sources that see it at others.
float checked_depth(float depth, const std::vector<float>& others, const SessionOptions& options) {
  const Job job;
  ViewCheck check{view_of_wall(0, depth), {}, {}, {}, {}};
  for (const float other : others)
    check.sources.push_back(view_of_wall(static_cast<int>(check.sources.size()) + 1, other));
  check.count_agreement = [&] {
    return count_agreement(check.reference, check.sources, options.check_consistency(job));
  };
  check.normals = [](ImageView<const float> depths) { return checked_normals(depths, kSmallCamera); };
  const ViewDepth checked = check_view(check, *wall(depth), SceneSettings(options).check);
  EXPECT_NEAR(checked.normal(20, 15).z, -1, 1e-5);
  return checked.depth(20, 15);
}

TEST(CheckView, TakesTheMeanOfDepthsThatAgreeClosely) {
  SessionOptions options = options_with();
  EXPECT_NEAR(checked_depth(2, {2.008f, 2.004f}, options), 2.004f, 2e-4);
  EXPECT_NEAR(checked_depth(2, {2, 2.016f}, options), 2, 1e-6) << "0.8 % agrees, but not closely";
}

TEST(CheckView, KeepsMeansWithinTheBounds) {
  SessionOptions options = options_with();
  options.depth_max = 2;
  EXPECT_EQ(checked_depth(1.999f, {2.006f, 2.006f}, options), 2.0f);
  options.depth_min = 1.999, options.depth_max = {};
  EXPECT_NEAR(checked_depth(1.9995f, {1.993f, 1.993f}, options), 1.999f, 1e-6);
}

/// The check of a wall whose depths no source confirms: it sees nothing there, or something else.
ViewDepth lone_wall(float confidence, float of_source, const SessionOptions& options) {
  const Job job;
  ViewDepth maps = uninitialised_view(kSmallCamera.width, kSmallCamera.height);
  maps.depth.fill(2);
  maps.normal.fill({0, 0, -1});
  maps.confidence.fill(confidence);
  ViewCheck check{view_of_wall(0, 2), {view_of_wall(1, of_source)}, {}, {}, {}};
  check.count_agreement = [&] {
    return count_agreement(check.reference, check.sources, options.check_consistency(job));
  };
  check.normals = [](ImageView<const float> depths) { return checked_normals(depths, kSmallCamera); };
  return check_view(check, maps, SceneSettings(options).check);
}

TEST(CheckView, KeepsWhatPlanesFillWhereNoOtherViewHasADepth) {
  const SessionOptions options = parse_options({});
  const ViewDepth filled = lone_wall(kFilledConfidence, kUnknown, options);
  EXPECT_EQ(filled.depth(20, 15), 2);
  EXPECT_NEAR(filled.confidence(20, 15), kFilledReliability, 0.5f / 255);
  EXPECT_GE(filled.confidence(20, 15), options.check_consistency(Job()).min_lone_confidence);
  EXPECT_TRUE(std::isnan(lone_wall(1, kUnknown, options).depth(20, 15))) << "a perfect match";
  EXPECT_TRUE(std::isnan(lone_wall(kFilledConfidence, 3, options).depth(20, 15))) << "seen through";
  EXPECT_TRUE(std::isnan(lone_wall(kFilledConfidence, 1, options).depth(20, 15))) << "hidden";
}

/// A wall that two sources agree on is right; its planes may be those of the sources too.
TEST(CheckView, IsLessSureOfWhatPlanesFill) {
  const SessionOptions options = parse_options({});
  EXPECT_GT(lone_wall(0.9f, 2, options).confidence(20, 15), 0.95f);
  EXPECT_NEAR(lone_wall(kFilledConfidence, 2, options).confidence(20, 15), kFilledReliability, 0.5f / 255);
}

TEST(CheckView, KeepsNoLoneDepthIfSeveralViewsMustAgree) {
  SessionOptions options = parse_options({});
  options.min_lone_confidence = 1;
  EXPECT_TRUE(std::isnan(lone_wall(kFilledConfidence, kUnknown, options).depth(20, 15)));
  options = parse_options({});
  options.consistency.min_views = 2;
  EXPECT_TRUE(std::isnan(lone_wall(kFilledConfidence, kUnknown, options).depth(20, 15)));
}

}  // namespace
}  // namespace recon

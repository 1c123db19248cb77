// How depth maps of a plane and a floor, whose depths are known in closed form, agree with each other.

#include "scene/map_agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "scene/depth_changes.hpp"
#include "scene/synthetic_scene.hpp"

namespace recon {
namespace {

using test::Change, test::kDistance, test::kInverse, test::kRight, test::kWide, test::scaled_by;

/// Views around a wall with a floor before it: the depth of each pixel, changed.
std::vector<ComparedView> walls(const std::vector<Pose>& poses, const Change& change, double noise = 0) {
  std::mt19937 random(9);
  std::normal_distribution<double> shift(0, noise);
  std::vector<ComparedView> views;
  for (const Pose& pose : poses) {
    const Vec3d centre = camera_centre(pose);
    Image<float> map(160, 120);
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 160; ++x) {
        const Vec3d ray = kWide.ray({2 * x + 1.0, 2 * y + 1.0});
        const Vec3d direction = transpose(pose.rotation) * ray;
        // The wall z = 4, the floor y = 1: direction has depth 1.
        double depth = direction.z > 0 ? (4 - centre.z) / direction.z : 1e9;
        if (direction.y > 0) depth = std::min(depth, (1 - centre.y) / direction.y);
        const double value = change(depth, norm(ray)) * std::exp(shift(random));
        map(x, y) = depth < 1e6 ? static_cast<float>(value) : kUnknown;
      }
    views.push_back({kWide, pose, std::move(map)});
  }
  return views;
}

std::vector<Pose> in_an_arc() {
  std::vector<Pose> poses;
  for (int i = -2; i <= 2; ++i)
    poses.push_back(
        test::looking_at({4 * std::sin(0.2 * i), -0.1 * i, 4 - 4 * std::cos(0.2 * i)}, {0, 0, 4}));
  return poses;
}

std::vector<Pose> in_a_row() {
  std::vector<Pose> poses;
  for (int i = -2; i <= 2; ++i) poses.push_back(test::looking_at({0.1 * i, 0, 0}, {0.1 * i, 0, 4}));
  return poses;
}

MapsVerdict verdict_of(const std::vector<ComparedView>& views) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i + 1 < std::ssize(views); ++i) pairs.insert(pairs.end(), {{i, i + 1}, {i + 1, i}});
  return judge_maps(views, pairs);
}

/// Nothing is wrong with all maps, nor with the scale of one.
bool is_right(const MapsVerdict& verdict) {
  const MapReading& it = verdict.reading;
  return it.meaning == DepthMeaning::kDepth && it.scale == 1 && it.layout == MapLayout::kUpright &&
         it.next == 0 &&
         std::ranges::all_of(verdict.views, [](const MapAgreement& view) { return view.own_scale == 1; });
}

TEST(MapAgreement, RightViewsAgree) {
  for (const double noise : {0.0, 0.01, 0.05, 0.3})
    for (const auto& poses : {in_an_arc(), in_a_row(), std::vector<Pose>(5, Pose{})})
      EXPECT_TRUE(is_right(verdict_of(walls(poses, kRight, noise)))) << noise;
  EXPECT_TRUE(is_right(judge_maps({}, {})));
}

TEST(MapAgreement, ViewsThatDisagreeShowAnotherUnit) {
  for (const double factor : {1000.0, 0.001, 30.48, 0.1})
    for (const double noise : {0.0, 0.01}) {
      const MapsVerdict verdict = verdict_of(walls(in_an_arc(), scaled_by(factor), noise));
      EXPECT_NEAR(verdict.reading.scale / factor, 1, 0.03)
          << factor << " " << noise << " " << verdict.as_given << " " << verdict.agreeing;
      EXPECT_EQ(verdict.reading.meaning, DepthMeaning::kDepth);
    }
  EXPECT_TRUE(is_right(verdict_of(walls(std::vector<Pose>(5, Pose{}), scaled_by(1000)))))
      << "without a baseline";
}

TEST(MapAgreement, InverseDepthsAgreeAsSuch) {
  for (const double factor : {1.0, 500.0, 0.02}) {
    const MapReading reading = verdict_of(walls(in_an_arc(), scaled_by(factor, kInverse))).reading;
    EXPECT_EQ(reading.meaning, DepthMeaning::kDisparity) << factor;
    EXPECT_NEAR(reading.scale / factor, 1, 0.03) << factor;
  }
}

TEST(MapAgreement, AScaleOfOneMapIsFoundByItsPairs) {
  std::vector<ComparedView> views = walls(in_an_arc(), kRight);
  views[1].map = std::move(walls(in_an_arc(), scaled_by(1.5))[1].map);
  const MapsVerdict verdict = verdict_of(views);
  EXPECT_NEAR(verdict.views[1].own_scale, 1.5, 0.06);
  for (const int right : {2, 3, 4}) EXPECT_EQ(verdict.views[right].own_scale, 1) << right;
}

TEST(MapAgreement, ViewsThatAgreeBetterAsDistancesHoldDistances) {
  EXPECT_EQ(verdict_of(walls(in_an_arc(), kDistance)).reading.meaning, DepthMeaning::kDistance);
  EXPECT_EQ(verdict_of(walls(in_an_arc(), kDistance, 0.005)).reading.meaning, DepthMeaning::kDistance);
  const MapsVerdict verdict = verdict_of(walls(in_an_arc(), scaled_by(1000, kDistance)));
  EXPECT_EQ(verdict.reading.meaning, DepthMeaning::kDistance);
  EXPECT_NEAR(verdict.reading.scale, 1000, 30);
}

/// Views beside each other from above a relief of waves of period 1, whose amplitude is `amplitude`; the
/// sources see all but `baseline` of `width`, at the mean depth.
std::vector<ComparedView> above_waves(double width, double baseline, double amplitude, double factor) {
  const double height = width * kWide.fx / kWide.width;
  constexpr double kTurn = 2 * std::numbers::pi;
  std::vector<ComparedView> views;
  for (int view = 0; view < 5; ++view) {
    Image<float> map(160, 120);
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 160; ++x) {
        const Vec3d ray = kWide.ray({2 * x + 1.0, 2 * y + 1.0});
        double depth = height;
        for (int i = 0; i < 100; ++i)
          depth = height + amplitude * std::sin(kTurn * (view * baseline + depth * ray.x));
        map(x, y) = static_cast<float>(factor * depth);
      }
    views.push_back({kWide, {identity<double>(), {-view * baseline, 0, 0}}, std::move(map)});
  }
  return views;
}

TEST(MapAgreement, ViewsWhoseScaleIsNearlyOneHaveNoOther) {
  for (const double factor : {0.98, 0.99, 1.0, 1.01, 1.02})
    EXPECT_EQ(verdict_of(above_waves(2, 0.8, 0.15, factor)).reading.scale, 1) << factor;
  for (const double factor : {0.96, 0.97, 1.03, 1.04, 1.1})
    EXPECT_NEAR(verdict_of(above_waves(2, 0.8, 0.15, factor)).reading.scale, factor, 0.01) << factor;
}

TEST(MapAgreement, FewCommonPlacesThatAgreeAreEnough) {
  // A third of the scale moves the waves by one period, and more of them into the source.
  EXPECT_TRUE(is_right(verdict_of(above_waves(2.63, 1.5, 0.1, 1))));
}

TEST(MapAgreement, OfTwoScalesThatExplainTheBetterOneIsNamed) {
  // At 2.25 times the scale the waves are one period further.
  EXPECT_NEAR(verdict_of(above_waves(12, 0.8, 0.15, 1000)).reading.scale, 1000, 30);
}

}  // namespace
}  // namespace recon

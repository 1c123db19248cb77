// What depth maps of others are, on a plane and a floor whose depths are known in closed form.

#include "scene/depth_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "core/pixels.hpp"
#include "scene/synthetic_scene.hpp"

namespace recon {
namespace {

const Pinhole kWide{320, 240, 200, 200, 160, 120}, kNarrow{320, 240, 4000, 4000, 160, 120};

using Change = std::function<double(double depth, double ray)>;

/// The samples of a camera that looks at random depths; logarithms have a noise, a share is anything.
std::vector<DepthSample> samples_of(const Pinhole& camera, std::size_t count, double noise, double outliers,
                                    const Change& change) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> shift(0, noise);
  std::vector<DepthSample> samples;
  while (samples.size() < count) {
    const double ray = norm(camera.ray({unit(random) * camera.width, unit(random) * camera.height}));
    const double depth = 1 + 4 * unit(random);
    const double ratio = change(depth, ray) / depth * std::exp(shift(random));
    samples.push_back({unit(random) < outliers ? 0.2 + 3 * unit(random) : ratio, ray});
  }
  return samples;
}

const Change kRight = [](double depth, double) { return depth; };
const Change kDistance = [](double depth, double ray) { return depth * ray; };
const Change kInverse = [](double depth, double) { return 1 / depth; };
Change scaled_by(double factor, const Change& change = kRight) {
  return [=](double depth, double ray) { return factor * change(depth, ray); };
}

TEST(DepthCheck, RightDepthsAreRightHoweverNoisy) {
  for (const std::size_t count : {5u, 29u, 30u, 60u, 300u, 3000u})
    for (const double noise : {0.0, 0.002, 0.02, 0.1, 0.25})
      for (const double outliers : {0.0, 0.2, 0.4})
        for (const Pinhole& camera : {kWide, kNarrow}) {
          const DepthVerdict verdict = judge_depths(samples_of(camera, count, noise, outliers, kRight));
          EXPECT_TRUE(verdict.right()) << count << " samples, noise " << noise << ", outliers " << outliers;
          EXPECT_EQ(verdict.samples, count);
        }
  EXPECT_TRUE(judge_depths({}).right());
}

TEST(DepthCheck, AnotherUnitIsTheMedianRatio) {
  for (const double factor : {1000.0, 0.001, 3.2808, 1.2, 0.9})
    for (const double noise : {0.0, 0.02})
      for (const double outliers : {0.0, 0.3}) {
        const DepthVerdict verdict = judge_depths(samples_of(kWide, 200, noise, outliers, scaled_by(factor)));
        EXPECT_NEAR(verdict.scale / factor, 1, 0.02) << factor << " " << noise;
        EXPECT_FALSE(verdict.distances || verdict.unrelated);
      }
}

TEST(DepthCheck, DistancesGrowWithTheRay) {
  for (const double factor : {1.0, 1000.0})
    for (const double noise : {0.0, 0.03})
      for (const double outliers : {0.0, 0.25}) {
        const DepthVerdict verdict =
            judge_depths(samples_of(kWide, 400, noise, outliers, scaled_by(factor, kDistance)));
        EXPECT_TRUE(verdict.distances) << factor << " " << noise << " " << outliers;
        EXPECT_NEAR(verdict.scale / factor, 1, 0.02);
      }
  EXPECT_TRUE(judge_depths(samples_of(kNarrow, 400, 0.01, 0.1, kDistance)).right())
      << "of a narrow lens they are the same";
}

TEST(DepthCheck, InverseDepthsAreUnrelated) {
  EXPECT_TRUE(judge_depths(samples_of(kWide, 200, 0.01, 0, kInverse)).unrelated);
  EXPECT_TRUE(judge_depths(samples_of(kWide, 200, 0.01, 0, scaled_by(50, kInverse))).unrelated);
}

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

DepthVerdict verdict_of(const std::vector<ComparedView>& views) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i + 1 < std::ssize(views); ++i) pairs.insert(pairs.end(), {{i, i + 1}, {i + 1, i}});
  return judge_depth_views(views, pairs);
}

TEST(DepthCheck, RightViewsAgree) {
  for (const double noise : {0.0, 0.01, 0.05, 0.3})
    for (const auto& poses : {in_an_arc(), in_a_row(), std::vector<Pose>(5, Pose{})})
      EXPECT_TRUE(verdict_of(walls(poses, kRight, noise)).right()) << noise;
  EXPECT_TRUE(judge_depth_views({}, {}).right());
}

TEST(DepthCheck, ViewsThatDisagreeShowAnotherUnit) {
  for (const double factor : {1000.0, 0.001, 30.48, 0.1})
    for (const double noise : {0.0, 0.01}) {
      const DepthVerdict verdict = verdict_of(walls(in_an_arc(), scaled_by(factor), noise));
      EXPECT_NEAR(verdict.scale / factor, 1, 0.03)
          << factor << " " << noise << " " << verdict.agreeing_as_given << " " << verdict.agreeing;
      EXPECT_FALSE(verdict.distances);
    }
  EXPECT_TRUE(verdict_of(walls(std::vector<Pose>(5, Pose{}), scaled_by(1000))).right())
      << "without a baseline";
}

TEST(DepthCheck, ViewsThatAgreeBetterAsDistancesHoldDistances) {
  EXPECT_TRUE(verdict_of(walls(in_an_arc(), kDistance)).distances);
  EXPECT_TRUE(verdict_of(walls(in_an_arc(), kDistance, 0.005)).distances);
  const DepthVerdict verdict = verdict_of(walls(in_an_arc(), scaled_by(1000, kDistance)));
  EXPECT_TRUE(verdict.distances);
  EXPECT_NEAR(verdict.scale, 1000, 30);
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

TEST(DepthCheck, ViewsWhoseScaleIsNearlyOneHaveNoOther) {
  for (const double factor : {0.96, 0.98, 1.0, 1.02, 1.04})
    EXPECT_EQ(verdict_of(above_waves(2, 0.8, 0.15, factor)).scale, 1) << factor;
  EXPECT_NEAR(verdict_of(above_waves(2, 0.8, 0.15, 1.1)).scale, 1.1, 0.02);
}

TEST(DepthCheck, FewCommonPlacesThatAgreeAreEnough) {
  // A third of the scale moves the waves by one period, and more of them into the source.
  EXPECT_TRUE(verdict_of(above_waves(2.63, 1.5, 0.1, 1)).right());
}

TEST(DepthCheck, OfTwoScalesThatExplainTheBetterOneIsNamed) {
  // At 2.25 times the scale the waves are one period further.
  EXPECT_NEAR(verdict_of(above_waves(12, 0.8, 0.15, 1000)).scale, 1000, 30);
}

TEST(DepthCheck, APixelAtTheBorderIsInTheMap) {
  for (int width = 1; width < 200; ++width)
    for (int side = 1; side < 200; ++side) {
      Image<float> map(side, 1, 1.0F);
      map(side - 1, 0) = 2;
      const Pinhole camera{width, 1, 1, 1, 0, 0};
      EXPECT_EQ(depth_at(map, camera, {std::nextafter(width, 0), 0.5}), 2.0F) << side << " of " << width;
    }
}

}  // namespace
}  // namespace recon

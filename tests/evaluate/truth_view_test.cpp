#include "evaluate/truth_view.hpp"

#include <gtest/gtest.h>

namespace recon {
namespace {

/// Two by two pixels; (0, 0) sees the direction (-0.5, -0.5, 1), and so on. The camera's centre is at (0, 0,
/// 1).
class TruthViewTest : public testing::Test {
 protected:
  TruthViewTest() : depth_(2, 2, 4.0f) { depth_(1, 1) = kUnknown; }
  TruthView view() const { return {camera_, pose_, depth_.view()}; }

  std::vector<PointVerdict> observed(const std::vector<Vec3d>& points,
                                     const std::vector<std::uint8_t>& own = {}) const {
    std::vector<PointVerdict> verdicts(points.size());
    observe(points, view(), own, verdicts);
    return verdicts;
  }

  Camera camera_{CameraModel::kPinhole, 2, 2, {1, 1, 1, 1}};
  Pose pose_{identity<double>(), {0, 0, -1}};
  Image<float> depth_;
};

TEST_F(TruthViewTest, UnprojectsKnownPixelsAtTheirCentres) {
  const std::vector<Vec3d> points = truth_points(view());
  ASSERT_EQ(points.size(), 3u);
  const Vec3d expected[] = {{-2, -2, 5}, {2, -2, 5}, {-2, 2, 5}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(points[i].x, expected[i].x) << i;
    EXPECT_DOUBLE_EQ(points[i].y, expected[i].y) << i;
    EXPECT_DOUBLE_EQ(points[i].z, expected[i].z) << i;
  }
}

TEST_F(TruthViewTest, ComparesDepthAtThePixelThatAPointFallsInto) {
  const auto verdicts = observed({{-2, -2, 5},        // on the surface
                                  {-2.5f, -2.5f, 6},  // a quarter behind it
                                  {2, 2, 5},          // truth unknown
                                  {9, 0, 5},          // outside the frame
                                  {2, 2, -3},         // behind the camera
                                  {kUnknown, 0, 5}});
  EXPECT_TRUE(verdicts[0].on_truth);
  EXPECT_EQ(verdicts[0].depth_error, 0.0);
  EXPECT_TRUE(verdicts[1].on_truth);
  EXPECT_EQ(verdicts[1].depth_error, 0.25);
  for (int i = 2; i < 6; ++i) {
    EXPECT_FALSE(verdicts[i].on_truth) << i;
    EXPECT_FALSE(verdicts[i].depth_error.has_value()) << i;
  }
}

TEST_F(TruthViewTest, OnlyAPointsOwnViewsCountForItsDepthError) {
  const auto verdicts = observed({{-2, -2, 5}, {-2, -2, 5}}, {0, 1});
  EXPECT_TRUE(verdicts[0].on_truth);
  EXPECT_FALSE(verdicts[0].depth_error.has_value());
  EXPECT_EQ(verdicts[1].depth_error, 0.0);
}

TEST_F(TruthViewTest, TheSmallestErrorOverTheViewsCounts) {
  const std::vector<Vec3d> points{{-2.5f, -2.5f, 6}};
  std::vector<PointVerdict> verdicts(1);
  observe(points, view(), {}, verdicts);
  depth_.fill(5.0f);
  observe(points, view(), {}, verdicts);
  EXPECT_EQ(verdicts[0].depth_error, 0.0);
  depth_.fill(50.0f);
  observe(points, view(), {}, verdicts);
  EXPECT_EQ(verdicts[0].depth_error, 0.0);
}

TEST_F(TruthViewTest, TruthPointsFallBackIntoTheirPixels) {
  camera_ = {CameraModel::kOpenCv, 40, 30, {30, 31, 20.3, 14.6, -0.1, 0.02, 0.001, -0.002}};
  const double c = 0.8, s = 0.6;
  pose_ = {{{c, 0, s, 0, 1, 0, -s, 0, c}}, {0.3, -0.2, 1.5}};
  depth_ = Image<float>(40, 30);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x)
      depth_(x, y) = 3 + 0.05f * static_cast<float>(x) + 0.1f * static_cast<float>(y);
  const std::vector<Vec3d> points = truth_points(view());
  ASSERT_EQ(points.size(), 1200u);
  for (const PointVerdict& verdict : observed(points)) {
    ASSERT_TRUE(verdict.depth_error.has_value());
    EXPECT_LT(*verdict.depth_error, 1e-6);
  }
}

}  // namespace
}  // namespace recon

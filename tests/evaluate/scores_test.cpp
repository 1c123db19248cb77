#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evaluate/cloud_score.hpp"
#include "evaluate/depth_score.hpp"
#include "evaluate/disparity_score.hpp"
#include "evaluate/statistics.hpp"

namespace recon {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Image<float> image_of(int width, const std::vector<float>& values) {
  Image<float> image(width, static_cast<int>(values.size()) / width);
  for (int i = 0; i < static_cast<int>(values.size()); ++i) image(i % width, i / width) = values[i];
  return image;
}

TEST(Statistics, MedianAndMeanOfFewValues) {
  EXPECT_EQ(median(std::vector<float>{5, 1, 3}), 3);
  EXPECT_EQ(median(std::vector<float>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(mean(std::vector<float>{4, 1, 3, 2}), 2.5);
  EXPECT_TRUE(std::isnan(median(std::vector<float>{})));
  EXPECT_TRUE(std::isnan(mean(std::vector<float>{})));
}

TEST(DepthScore, OfSixPixelsByHand) {
  const Image<float> truth = image_of(3, {2, 2, 2, 4, 0, kUnknown});
  const Image<float> estimate = image_of(3, {2, 2.5f, kUnknown, 3, 7, 0});
  // Relative errors: 0, 0.25, none, 0.25; one of two unknown pixels has an estimate.
  const DepthScore score =
      score_depth(compare_depth(estimate.view(), truth.view()), std::vector<double>{0.1, 0.25});
  EXPECT_EQ(score.known, 4);
  EXPECT_EQ(score.estimated, 3);
  EXPECT_EQ(score.completeness, 0.75);
  EXPECT_THAT(score.within_of_known, ElementsAre(0.25, 0.75));
  EXPECT_THAT(score.within_of_estimated, ElementsAre(DoubleNear(1.0 / 3, 1e-12), 1.0));
  EXPECT_EQ(score.median_error, 0.25);
  EXPECT_NEAR(score.mean_error, 0.5 / 3, 1e-7);
  EXPECT_EQ(score.estimated_where_unknown, 0.5);
  EXPECT_EQ(score.estimates_on_unknown, 0.25);
}

TEST(DepthScore, OfTwoViewsIsThatOfAllTheirPixels) {
  const Image<float> truth = image_of(2, {1, 1}), good = image_of(2, {1, 1}), bad = image_of(2, {2, 0});
  DepthComparison all = compare_depth(good.view(), truth.view());
  all += compare_depth(bad.view(), truth.view());
  const DepthScore score = score_depth(all, std::vector<double>{0.01});
  EXPECT_EQ(score.completeness, 0.75);
  EXPECT_THAT(score.within_of_known, ElementsAre(0.5));
  EXPECT_EQ(score.median_error, 0);
}

TEST(DepthScore, WithoutAnyEstimateIsZeroNotNaN) {
  const Image<float> truth = image_of(2, {1, 1}), none = image_of(2, {0, kUnknown});
  const DepthScore score = score_depth(compare_depth(none.view(), truth.view()), std::vector<double>{0.01});
  EXPECT_EQ(score.completeness, 0);
  EXPECT_THAT(score.within_of_known, ElementsAre(0));
  EXPECT_THAT(score.within_of_estimated, ElementsAre(0));
  EXPECT_TRUE(std::isnan(score.median_error));
}

TEST(ResampleTruth, TakesThePixelBelowEachCentre) {
  const Image<float> truth = image_of(6, {0, 1, 2, 3, 4, 5});
  const Image<float> third = resample_truth(truth.view(), 2, 1);  // centres at 1.5 and 4.5
  EXPECT_EQ(third(0, 0), 1);
  EXPECT_EQ(third(1, 0), 4);
  const Image<float> twice = resample_truth(truth.view(), 12, 1);
  for (int x = 0; x < 12; ++x) EXPECT_EQ(twice(x, 0), static_cast<float>(x / 2)) << x;
}

TEST(ResampleTruth, ThroughTwoCamerasFollowsTheRay) {
  // The map's camera has twice the focal length and its centre two pixels further right than in the truth:
  // pixel x of the map, centre x + 0.5, sees (x + 0.5 - 4) / 20 = (u - 2) / 10, so u = (x + 0.5) / 2.
  const Camera truth_camera{CameraModel::kPinhole, 4, 1, {10, 10, 2, 0.5}};
  const Camera map_camera{CameraModel::kPinhole, 10, 1, {20, 20, 4, 0.5}};
  const Image<float> truth = image_of(4, {1, 2, 3, 4});
  const Image<float> map = resample_truth(truth.view(), truth_camera, 10, 1, map_camera);
  for (int x = 0; x < 8; ++x) EXPECT_EQ(map(x, 0), static_cast<float>(x / 2 + 1)) << x;
  EXPECT_TRUE(std::isnan(map(8, 0)) && std::isnan(map(9, 0)));
}

TEST(ResampleTruth, ThroughOneCameraAtHalfSizeIsThePlainResampling) {
  const Camera camera{CameraModel::kPinhole, 6, 2, {10, 10, 2.5, 1}};
  const Image<float> truth = image_of(6, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Image<float> through = resample_truth(truth.view(), camera, 2, 2, camera);
  const Image<float> plain = resample_truth(truth.view(), 2, 2);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x) EXPECT_EQ(through(x, y), plain(x, y));
}

TEST(ResampleTruth, TruthMayBeSmallerThanTheFrameOfItsCamera) {
  const Camera camera{CameraModel::kPinhole, 6, 2, {10, 10, 2.5, 1}};
  const Image<float> truth = image_of(3, {0, 1, 2});
  const Image<float> map = resample_truth(truth.view(), camera, 6, 2, camera);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 6; ++x) EXPECT_EQ(map(x, y), static_cast<float>(x / 2)) << x << ", " << y;
}

TEST(CloudScore, OfFivePointsByHand) {
  // Far apart against the voxel, so thinning keeps all. Estimate to reference: 0, 0.05, none; back: 0, 0.05.
  const std::vector<Vec3d> estimate{{0.01f, 0, 0}, {1.06f, 0, 0}, {5, 0, 0}};
  const std::vector<Vec3d> reference{{0.01f, 0, 0}, {1.01f, 0, 0}};
  const CloudScore score = score_cloud(estimate, reference, 0.1, 0.05);
  EXPECT_EQ(score.estimate_points, 3u);
  EXPECT_EQ(score.reference_points, 2u);
  EXPECT_NEAR(score.precision, 2.0 / 3, 1e-12);
  EXPECT_EQ(score.recall, 1);
  EXPECT_NEAR(score.f1, 0.8, 1e-12);
  EXPECT_NEAR(score.estimate_distance.median, 0.05, 1e-6);
  EXPECT_NEAR(score.estimate_distance.mean, (0 + 0.05 + 0.1) / 3, 1e-6);
  EXPECT_NEAR(score.reference_distance.mean, 0.025, 1e-6);
}

TEST(CloudScore, OfACloudAgainstItselfIsOne) {
  std::vector<Vec3d> cloud;
  for (int i = 0; i < 1000; ++i)
    cloud.push_back({static_cast<float>(i % 10) * 0.013f, static_cast<float>(i / 10) * 0.017f, 2});
  const CloudScore score = score_cloud(cloud, cloud, 0.05, 0.025);
  EXPECT_EQ(score.precision, 1);
  EXPECT_EQ(score.recall, 1);
  EXPECT_EQ(score.f1, 1);
  EXPECT_EQ(score.estimate_distance.mean, 0);
  EXPECT_LT(score.estimate_points, cloud.size());
}

TEST(CloudScore, OfNothingIsZero) {
  const std::vector<Vec3d> cloud{{0, 0, 0}};
  const CloudScore score = score_cloud({}, cloud, 0.1, 0.05);
  EXPECT_EQ(score.precision, 0);
  EXPECT_EQ(score.recall, 0);
  EXPECT_EQ(score.f1, 0);
  EXPECT_TRUE(std::isnan(score.estimate_distance.mean));
  EXPECT_TRUE(std::isinf(score.reference_distance.median));
}

TEST(DisparityScore, OfFivePixelsByHand) {
  const Image<float> truth = image_of(5, {10, 10, 10, 10, kInfinity});
  const Image<float> estimate = image_of(5, {10, 11, 13, kUnknown, 3});
  const DisparityScore score =
      score_disparity(estimate.view(), truth.view(), {}, std::vector<double>{0.5, 1, 2});
  EXPECT_EQ(score.known, 4);
  EXPECT_EQ(score.estimated, 3);
  EXPECT_THAT(score.bad_of_known, ElementsAre(0.75, 0.5, 0.5));
  EXPECT_THAT(score.bad_of_estimated, ElementsAre(DoubleNear(2.0 / 3, 1e-12), DoubleNear(1.0 / 3, 1e-12),
                                                  DoubleNear(1.0 / 3, 1e-12)));
  EXPECT_NEAR(score.average_error, 4.0 / 3, 1e-12);
  EXPECT_NEAR(score.rms_error, std::sqrt(10.0 / 3), 1e-12);
}

TEST(DisparityScore, CountsOnlyPixelsThatTheMaskMarks255) {
  const Image<float> truth = image_of(3, {1, 1, 1}), estimate = image_of(3, {1, 9, 9});
  Image<std::uint8_t> mask(3, 1);
  mask(0, 0) = 255;
  mask(1, 0) = 128;
  mask(2, 0) = 0;
  const DisparityScore score =
      score_disparity(estimate.view(), truth.view(), mask.view(), std::vector<double>{1});
  EXPECT_EQ(score.known, 1);
  EXPECT_THAT(score.bad_of_known, ElementsAre(0));
}

}  // namespace
}  // namespace recon

// Single steps of the costs and of the warp, on values checked by hand.

#include <gtest/gtest.h>

#include <cmath>

#include "match/combine_step.hpp"
#include "match/cost_step.hpp"
#include "match/posed_image.hpp"
#include "match/warp_step.hpp"

namespace recon {
namespace {

TEST(Bilinear, TakesPixelsAndHalvesExactly) {
  EXPECT_EQ(bilinear(10, 20, 30, 40, 0, 0), 10u);
  EXPECT_EQ(bilinear(10, 20, 30, 40, 128, 0), 15u);
  EXPECT_EQ(bilinear(10, 20, 30, 40, 0, 128), 20u);
  EXPECT_EQ(bilinear(10, 20, 30, 40, 128, 128), 25u);
  EXPECT_EQ(bilinear(255, 255, 255, 255, 255, 255), 255u);
  EXPECT_EQ(bilinear(0, 1, 0, 1, 127, 0), 0u);
  EXPECT_EQ(bilinear(0, 1, 0, 1, 128, 0), 1u);
}

TEST(InverseSqrt, IsWithinTwoUnitsOfTenMillion) {
  for (float x = 1e-3f; x < 1e18f; x *= 1.37f)
    EXPECT_NEAR(inverse_sqrt(x) * std::sqrt(static_cast<double>(x)), 1.0, 2.5e-7) << x;
}

TEST(InverseSqrt, OfTwiceIsTheSameToTheBit) {
  for (float x = 1.0f; x < 1e18f; x *= 1.00037f)
    ASSERT_EQ(inverse_sqrt_of_twice(0.5f * x), inverse_sqrt(x)) << x;
  EXPECT_EQ(1.0f - 0.0f * inverse_sqrt_of_twice(0.0f), 1.0f) << "flat windows";
}

TEST(ZnccCost, KnowsPerfectOppositeAndFlat) {
  EXPECT_NEAR(zncc_cost(400, 900, 600), 0.0f, 1e-6f);
  EXPECT_NEAR(zncc_cost(400, 900, -600), 2.0f, 1e-6f);
  EXPECT_NEAR(zncc_cost(400, 900, 0), 1.0f, 0.0f);
  EXPECT_EQ(zncc_cost(0, 900, 0), 1.0f);
  EXPECT_EQ(zncc_cost(900, 0, 0), 1.0f);
}

TEST(ScaledVariance, HoldsAtTheLargestWindowAndContrast) {
  // 225 pixels, 112 of them 255, the others 0: n S2 - S^2 = 225 * 112 * 255^2 - (112 * 255)^2.
  const std::uint32_t sum = 112u * 255u, squares = 112u * 255u * 255u;
  EXPECT_EQ(scaled_variance(225, sum, squares), 822956400);
  EXPECT_EQ(scaled_covariance(225, sum, sum, squares), 822956400);
  EXPECT_EQ(scaled_covariance(225, sum, 113u * 255u, 0u), -822956400);
}

TEST(BestCosts, AveragesTheSmallest) {
  BestCosts<2> best;
  best.clear();
  EXPECT_TRUE(std::isinf(best.mean()));
  best.offer(5.0f);
  EXPECT_EQ(best.mean(), 5.0f);
  for (const float c : {9.0f, 1.0f, invalid_cost(), 4.0f}) best.offer(c);
  EXPECT_EQ(best.mean(), 2.5f);
}

TEST(MeanCost, LeavesOutSourcesThatSeeNothing) {
  MeanCost mean;
  mean.clear();
  EXPECT_TRUE(std::isinf(mean.mean()));
  for (const float c : {9.0f, invalid_cost(), 3.0f}) mean.offer(c);
  EXPECT_EQ(mean.mean(), 6.0f);
}

TEST(PlaneSet, IsUniformInInverseDepthFromFarToNear) {
  const PlaneSet planes = make_plane_set(0.5, 2.0, 4);
  EXPECT_FLOAT_EQ(inverse_depth(planes, 0), 0.5f);
  EXPECT_FLOAT_EQ(inverse_depth(planes, 1), 1.0f);
  EXPECT_FLOAT_EQ(inverse_depth(planes, 3), 2.0f);
}

TEST(SamplePosition, MovesByTheDisparityOfARectifiedPair) {
  // x_source = x - f b / z: f b = 100 * 0.5, z = 2 -> 25 pixels.
  const Pinhole camera{200, 50, 100, 100, 100, 25};
  Pose source;
  source.translation = {-0.5, 0, 0};
  const SourceWarp warp = make_source_warp(camera, Pose{}, camera, source);
  const RowWarp row = row_warp(warp, 0.5f, 7);
  const SamplePosition at = sample_position(row, 60, 200, 50);
  EXPECT_EQ(at.u, 35 * 256);
  EXPECT_EQ(at.v, 7 * 256);
  EXPECT_TRUE(at.inside);
  EXPECT_FALSE(sample_position(row, 24, 200, 50).inside);
  EXPECT_EQ(sample_position(row, 24, 200, 50).u, 0);
}

TEST(SamplePosition, DoesNotSeeWhatLiesBehindTheSource) {
  const Pinhole camera{200, 50, 100, 100, 100, 25};
  Pose source;
  source.translation = {0, 0, -3};
  const SourceWarp warp = make_source_warp(camera, Pose{}, camera, source);
  EXPECT_FALSE(sample_position(row_warp(warp, 0.5f, 25), 100, 200, 50).inside);
  EXPECT_TRUE(sample_position(row_warp(warp, 0.25f, 25), 100, 200, 50).inside);
}

}  // namespace
}  // namespace recon

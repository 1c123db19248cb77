#include "fuse/reliability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace recon {
namespace {

Agreement counts(int known, int agree, int through, int hidden) {
  return {static_cast<std::uint8_t>(known), static_cast<std::uint8_t>(agree),
          static_cast<std::uint8_t>(through), static_cast<std::uint8_t>(hidden)};
}

/// Calls `visit` with all counts of up to `max` sources: those that neither agree nor see another depth have
/// another normal.
template <class Visit>
void for_counts(int max, const Visit& visit) {
  for (int known = 0; known <= max; ++known)
    for (int agree = 0; agree <= known; ++agree)
      for (int through = 0; agree + through <= known; ++through)
        for (int hidden = 0; agree + through + hidden <= known; ++hidden)
          visit(known, agree, through, hidden);
}

TEST(KeepsDepth, NeedsSourcesThatAgreeOrNoneThatHasADepth) {
  ConsistencyOptions options;
  options.min_lone_confidence = 0.8f;
  EXPECT_TRUE(keeps_depth(counts(3, 1, 1, 1), 0.5f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(counts(3, 1, 1, 1), 0.49f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(counts(1, 0, 0, 0), 0.9f, options, 0.5f)) << "a source has another normal";
  EXPECT_TRUE(keeps_depth(counts(0, 0, 0, 0), 0.8f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(counts(0, 0, 0, 0), 0.79f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(counts(0, 0, 0, 0), 0.85f, options, 0.9f)) << "not sure enough for any depth";
  options.min_lone_confidence = 1.0f;
  EXPECT_FALSE(keeps_depth(counts(0, 0, 0, 0), 1.0f, options, 0.5f));
  options.min_views = 2;
  EXPECT_FALSE(keeps_depth(counts(2, 1, 0, 0), 0.9f, options, 0.5f));
  EXPECT_TRUE(keeps_depth(counts(2, 2, 0, 0), 0.9f, options, 0.5f));
}

TEST(Reliability, IsTheLogisticFunctionOfItsTerms) {
  // 2.39 + 0.76 log 2 + 2.79 / 4 + 0.57 * 2 / 4 - 2.03 / 2 - 3.33 * 0.5 - 1.02 * 20 * 0.025 = 0.70929, whose
  // logistic function is 686.33 / 1024.
  EXPECT_EQ(reliability(counts(4, 1, 1, 2), 0.5f, 0.025f), 686.0f / 1024.0f);
  // No source has a depth: 2.39 - 3.33 = -0.94, 287.64 / 1024.
  EXPECT_EQ(reliability(counts(0, 0, 0, 0), 1.0f, 0.0f), 288.0f / 1024.0f);
}

TEST(Reliability, CostAndVariationHaveMaxima) {
  const Agreement some = counts(4, 2, 1, 0);
  EXPECT_LT(reliability(some, 1.2f, 0.1f), reliability(some, 1.1f, 0.1f));
  EXPECT_EQ(reliability(some, 1.2f, 0.1f), reliability(some, 2.0f, 0.1f));
  EXPECT_LT(reliability(some, 0.5f, 0.15f), reliability(some, 0.5f, 0.14f));
  EXPECT_EQ(reliability(some, 0.5f, 0.15f), reliability(some, 0.5f, 10.0f));
}

TEST(Reliability, IsAMultipleOf1024thsWithin0And1) {
  int between = 0;
  for_counts(6, [&](int known, int agree, int through, int hidden) {
    for (const float cost : {0.0f, 0.31f, 1.0f, 2.0f})
      for (const float variation : {0.0f, 0.013f, 0.2f}) {
        const float p = reliability(counts(known, agree, through, hidden), cost, variation);
        ASSERT_GE(p, 0.0f);
        ASSERT_LE(p, 1.0f);
        ASSERT_EQ(p * 1024.0f, std::floor(p * 1024.0f));
        between += p > 0.1f && p < 0.9f;
      }
  });
  EXPECT_GT(between, 100);
  EXPECT_LE(reliability(counts(255, 255, 0, 0), 0.0f, 0.0f), 1.0f);
  EXPECT_GE(reliability(counts(255, 0, 255, 0), 2.0f, 1e6f), 0.0f);
}

TEST(Reliability, RisesWithAgreeingSources) {
  for_counts(8, [](int known, int agree, int through, int hidden) {
    if (agree + through + hidden == known) return;
    const float before = reliability(counts(known, agree, through, hidden), 0.8f, 0.05f);
    const float after = reliability(counts(known, agree + 1, through, hidden), 0.8f, 0.05f);
    ASSERT_GT(after, before) << known << " " << agree << " " << through << " " << hidden;
  });
}

TEST(Reliability, FallsWithSourcesThatSeeThrough) {
  for_counts(8, [](int known, int agree, int through, int hidden) {
    if (agree + through + hidden == known) return;
    const float before = reliability(counts(known, agree, through, hidden), 0.8f, 0.05f);
    const float after = reliability(counts(known, agree, through + 1, hidden), 0.8f, 0.05f);
    // The term is the share of those that agree or see through.
    if (agree == 0 && through > 0)
      ASSERT_EQ(after, before);
    else
      ASSERT_LT(after, before) << known << " " << agree << " " << through << " " << hidden;
  });
}

TEST(Reliability, FallsWithCostAndVariation) {
  for_counts(5, [](int known, int agree, int through, int hidden) {
    const Agreement some = counts(known, agree, through, hidden);
    for (float cost = 0.3f; cost < 1.05f; cost += 0.1f)
      ASSERT_LT(reliability(some, cost + 0.1f, 0.05f), reliability(some, cost, 0.05f));
    for (float variation = 0.0f; variation < 0.135f; variation += 0.01f)
      ASSERT_LT(reliability(some, 0.8f, variation + 0.01f), reliability(some, 0.8f, variation));
  });
}

/// The definition, pixel by pixel in double precision.
double variation_at(ImageView<const float> depth, int x, int y) {
  if (std::isnan(depth(x, y))) return 0;
  double min = 1e30, max = -1e30;
  for (int v = 0; v < depth.height; ++v)
    for (int u = 0; u < depth.width; ++u) {
      if (std::abs(u - x) > 3 || std::abs(v - y) > 3 || std::isnan(depth(u, v))) continue;
      min = std::min(min, 1.0 / static_cast<double>(depth(u, v)));
      max = std::max(max, 1.0 / static_cast<double>(depth(u, v)));
    }
  return (max - min) * static_cast<double>(depth(x, y));
}

/// Three roundings to float, of inverse depths that are at most 8 times that of the centre: 1e-6 * 8.
TEST(InverseDepthVariation, EqualsItsDefinition) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  struct Size {
    int width, height;
  };
  for (const Size size : {Size{1, 1}, Size{1, 19}, Size{19, 1}, Size{3, 5}, Size{7, 7}, Size{41, 23}})
    for (const float unknown : {0.0f, 0.3f, 0.95f}) {
      Image<float> depth(size.width, size.height);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          depth(x, y) = uniform(random) < unknown ? kUnknown : 0.5f + 3.5f * uniform(random);
      const Image<float> found = inverse_depth_variation(depth.view());
      ASSERT_EQ(found.width(), size.width);
      ASSERT_EQ(found.height(), size.height);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ASSERT_NEAR(static_cast<double>(found(x, y)), variation_at(depth.view(), x, y), 8e-6)
              << x << " " << y << " of " << size.width << "x" << size.height;
          ASSERT_EQ(inverse_depth_variation(depth.view(), x, y), found(x, y));
        }
    }
}

}  // namespace
}  // namespace recon

#include "fuse/reliability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace recon {
namespace {

Agreement counts(int visible, int known, int agree, int close, int through) {
  return {static_cast<std::uint8_t>(visible), static_cast<std::uint8_t>(known),
          static_cast<std::uint8_t>(agree), static_cast<std::uint8_t>(close),
          static_cast<std::uint8_t>(through)};
}

/// Calls `visit` with all counts of up to `max` sources.
template <class Visit>
void for_counts(int max, const Visit& visit) {
  for (int visible = 0; visible <= max; ++visible)
    for (int known = 0; known <= visible; ++known)
      for (int agree = 0; agree <= known; ++agree)
        for (int close = 0; close <= agree; ++close)
          for (int through = 0; agree + through <= known; ++through)
            visit(counts(visible, known, agree, close, through));
}

std::string text(const Agreement& a) {
  std::string result;
  for (const int count : {a.visible, a.known, a.agree, a.close, a.through})
    result += std::to_string(count) + " ";
  return result;
}

TEST(KeepsDepth, NeedsSourcesThatAgreeOrNoneThatHasADepth) {
  const Agreement one = counts(3, 3, 1, 1, 1), none = counts(2, 0, 0, 0, 0), two = counts(2, 2, 2, 2, 0);
  ConsistencyOptions options;
  options.min_lone_confidence = 0.8f;
  EXPECT_TRUE(keeps_depth(one, 0.5f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(one, 0.49f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(counts(1, 1, 0, 0, 0), 0.9f, options, 0.5f)) << "a source has another normal";
  EXPECT_TRUE(keeps_depth(none, 0.8f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(none, 0.79f, options, 0.5f));
  EXPECT_FALSE(keeps_depth(none, 0.85f, options, 0.9f)) << "not sure enough for any depth";
  options.min_lone_confidence = 1.0f;
  EXPECT_FALSE(keeps_depth(none, 1.0f, options, 0.5f));
  options.min_views = 2;
  EXPECT_FALSE(keeps_depth(one, 0.9f, options, 0.5f));
  EXPECT_TRUE(keeps_depth(two, 0.9f, options, 0.5f));
}

TEST(Reliability, IsTheLogisticFunctionOfItsTerms) {
  // -1.07 + 0.15 log 3 + 0.74 log 2 + 3.77 * 2 / 5 + 2.21 * 1 / 5 + 0.32 / 2 - 0.65 * 20 * 0.025 = 1.39272,
  // whose logistic function is 820.25 / 1024.
  EXPECT_EQ(reliability(counts(5, 4, 2, 1, 1), 0.025f), 820.0f / 1024.0f);
  // 1.68 - 1.06 * 0.5 - 1.37 * 20 * 0.01 = 0.876, 722.94 / 1024.
  EXPECT_EQ(lone_reliability(0.5f, 0.01f), 723.0f / 1024.0f);
}

TEST(Reliability, CostAndVariationHaveMaxima) {
  EXPECT_LT(lone_reliability(1.2f, 0.1f), lone_reliability(1.1f, 0.1f));
  EXPECT_EQ(lone_reliability(1.2f, 0.1f), lone_reliability(2.0f, 0.1f));
  const Agreement some = counts(4, 4, 2, 1, 1);
  EXPECT_LT(reliability(some, 0.15f), reliability(some, 0.14f));
  EXPECT_EQ(reliability(some, 0.15f), reliability(some, 10.0f));
}

TEST(Reliability, IsAMultipleOf1024thsWithin0And1) {
  int between = 0;
  for_counts(5, [&](const Agreement& some) {
    for (const float variation : {0.0f, 0.013f, 0.2f}) {
      const float p = reliability(some, variation);
      ASSERT_GE(p, 0.0f);
      ASSERT_LE(p, 1.0f);
      ASSERT_EQ(p * 1024.0f, std::floor(p * 1024.0f));
      between += p > 0.1f && p < 0.9f;
    }
  });
  EXPECT_GT(between, 100);
  EXPECT_LE(reliability(counts(255, 255, 255, 255, 0), 0.0f), 1.0f);
  EXPECT_GE(reliability(counts(255, 255, 0, 0, 255), 1e6f), 0.0f);
}

TEST(Reliability, RisesWithSourcesThatAgreeClosely) {
  for_counts(6, [](Agreement some) {
    if (some.agree + some.through == some.known) return;
    const float before = reliability(some, 0.05f);
    ++some.agree, ++some.close;
    ASSERT_GT(reliability(some, 0.05f), before) << text(some);
  });
}

TEST(Reliability, FallsWithSourcesThatSeeThroughOrHaveNoDepth) {
  for_counts(6, [](Agreement some) {
    const float before = reliability(some, 0.05f);
    Agreement more = some;
    ++more.visible;
    if (some.agree > 0) {
      ASSERT_LT(reliability(more, 0.05f), before) << text(some) << "without a depth";
    }
    if (some.agree + some.through == some.known) return;
    ++some.through;
    ASSERT_LT(reliability(some, 0.05f), before) << text(some) << "through";
  });
}

TEST(Reliability, FallsWithVariation) {
  for_counts(4, [](const Agreement& some) {
    for (float variation = 0.0f; variation < 0.135f; variation += 0.01f)
      ASSERT_LT(reliability(some, variation + 0.01f), reliability(some, variation)) << text(some);
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

// Accuracy of the simplest pipelines on real pairs: a cost, one aggregation, winner-take-all. Nothing is
// checked, filled or refined, so occluded pixels are usually wrong.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "aggregate/aggregation.hpp"
#include "evaluate/disparity_score.hpp"
#include "match/ad_census.hpp"
#include "match/cross_arms.hpp"
#include "reference/colour_sets.hpp"

namespace recon {
namespace {

const std::filesystem::path kSets = std::filesystem::path(RECON_SHARED_DIR) / "stereo";

Volume<float> volume_of(const ColourSet& set) {
  return {set.left.width(), set.grey.disparities, set.left.height()};
}

Image<float> min_cost(VolumeView<const float> costs) {
  Image<float> disparity(costs.width, costs.height);
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x) {
      int best = 0;
      for (int d = 1; d < costs.planes; ++d)
        if (costs(x, y, d) < costs(x, y, best)) best = d;
      disparity(x, y) = static_cast<float>(best);
    }
  return disparity;
}

/// Percentages of the pixels with an error of more than 1: non-occluded, all, near discontinuities.
std::array<double, 3> bad_pixels(const ColourSet& set, VolumeView<const float> costs, const char* what) {
  const Image<float> disparity = min_cost(costs);
  const std::array<double, 1> thresholds{1.0};
  const auto bad = [&](const Image<std::uint8_t>& mask) {
    return 100 *
           score_disparity(disparity.view(), set.grey.truth.view(), mask.view(), thresholds).bad_of_known[0];
  };
  const std::array<double, 3> shares{bad(set.nonocc), bad(set.all), bad(set.disc)};
  std::printf("%-14s %-10s nonocc %.2f %%, all %.2f %%, disc %.2f %%\n", set.grey.name.c_str(), what,
              shares[0], shares[1], shares[2]);
  return shares;
}

TEST(AggregationAccuracy, SimplePipelinesOnTsukuba) {
  if (!std::filesystem::exists(kSets / "tsukuba")) GTEST_SKIP() << "no pair with ground truth in " << kSets;
  const ColourSet set = read_colour_set(kSets / "tsukuba");
  const ColourPair pair{set.left.view(), set.right.view()};
  Volume<float> costs = volume_of(set), means = volume_of(set);
  colour_difference_costs(pair, PairSide::kLeft, 0, 10, costs.view());
  constant_window(costs.view(), 8, 10, means.view());
  EXPECT_LE(bad_pixels(set, means.view(), "CW")[0], 6.5);
  colour_difference_costs(pair, PairSide::kLeft, 0, 20, costs.view());
  adaptive_weight({pair.left, pair.right}, {}, costs.view(), means.view());
  EXPECT_LE(bad_pixels(set, means.view(), "AW")[0], 2.8);
  const Image<Cross> left = cross_arms(pair.left, {}), right = cross_arms(pair.right, {});
  cross_based({left.view(), right.view()}, {}, 20, costs.view());
  EXPECT_LE(bad_pixels(set, costs.view(), "CROSS")[0], 5.4);
}

/// Floors of AD-Census with cross-based means of the left view's arms, half a percent above the measured
/// values.
struct Floor {
  const char* set;
  double nonocc, all;
};

TEST(AggregationAccuracy, AdCensusAndCrossesOnFourSets) {
  constexpr Floor kFloors[] = {
      {"tsukuba", 2.7, 3.6}, {"venus", 2.2, 2.7}, {"teddy_quarter", 7.6, 14.4}, {"cones_quarter", 5.8, 14.3}};
  for (const Floor& floor : kFloors) {
    if (!std::filesystem::exists(kSets / floor.set)) GTEST_SKIP() << "no pair with ground truth in " << kSets;
    const ColourSet set = read_colour_set(kSets / floor.set);
    const ColourPair pair{set.left.view(), set.right.view()};
    const Image<Cross> left = cross_arms(pair.left, {}), right = cross_arms(pair.right, {});
    Volume<float> costs = volume_of(set);
    ad_census_costs(pair, PairSide::kLeft, 0, {}, costs.view());
    cross_based({left.view(), right.view()}, {}, 2, costs.view());
    bad_pixels(set, costs.view(), "both views");
    ad_census_costs(pair, PairSide::kLeft, 0, {}, costs.view());
    cross_based({left.view(), {}}, {}, 2, costs.view());
    const std::array<double, 3> shares = bad_pixels(set, costs.view(), "left view");
    EXPECT_LE(shares[0], floor.nonocc);
    EXPECT_LE(shares[1], floor.all);
  }
}

}  // namespace
}  // namespace recon

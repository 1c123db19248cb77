// Accuracy floors of semi-global matching with its defaults on real pairs: all known pixels count, holes are
// filled.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "evaluate/disparity_score.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/stereo_sets.hpp"
#include "refine/depth_filters.hpp"
#include "refine/fill.hpp"

namespace recon {
namespace {

/// Shares of pixels wrong by more than 1 and by more than 2 pixels.
std::array<double, 2> bad_pixels(const StereoSet& set, int min_patch) {
  PairProblem problem;
  problem.images.left = set.left.view();
  problem.images.right = set.right.view();
  problem.options.range = {0, set.disparities};
  DisparityMap map = match_pair(problem);
  remove_disparity_speckles(map.disparity.view(), min_patch);
  fill_disparity(map.disparity.view(), set.left_colour.view(), 0, set.disparities);
  const std::array<double, 2> thresholds{1.0, 2.0};
  const DisparityScore score = score_disparity(map.disparity.view(), set.truth.view(), {}, thresholds);
  return {score.bad_of_known[0], score.bad_of_known[1]};
}

TEST(SemiGlobalAccuracy, MeanOverAllSets) {
  const std::filesystem::path folder = std::filesystem::path(RECON_SHARED_DIR) / "stereo";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no pairs with ground truth in " << folder;
  const std::vector<StereoSet> sets = read_stereo_sets(folder);
  ASSERT_FALSE(sets.empty());
  for (const int min_patch : {0, 50}) {
    std::array<double, 2> mean{0, 0};
    for (const StereoSet& set : sets) {
      const std::array<double, 2> bad = bad_pixels(set, min_patch);
      for (int i = 0; i < 2; ++i)
        mean[static_cast<std::size_t>(i)] +=
            100 * bad[static_cast<std::size_t>(i)] / static_cast<double>(sets.size());
      std::printf("%-20s patches of %d: bad-1 %.2f %%, bad-2 %.2f %%\n", set.name.c_str(), min_patch,
                  100 * bad[0], 100 * bad[1]);
    }
    std::printf("mean: %.2f %%, %.2f %%\n", mean[0], mean[1]);
    EXPECT_LE(mean[0], min_patch > 0 ? 6.6 : 7.4);
    EXPECT_LE(mean[1], min_patch > 0 ? 4.45 : 5.3);
  }
}

}  // namespace
}  // namespace recon

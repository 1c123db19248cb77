#include <gtest/gtest.h>
#include <hwy/highway.h>

#include "core/parallel.hpp"
#include "io/image/image_file.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/belief_problems.hpp"
#include "reference/belief_reference.hpp"
#include "steps/instruction_sets.hpp"

namespace recon {
namespace {

using reference::BeliefPair;
using reference::PaperSet;
using reference::random_pair;

std::size_t differing(const DisparityMap& a, const DisparityMap& b) {
  EXPECT_EQ(a.disparity.width(), b.disparity.width());
  EXPECT_EQ(a.disparity.height(), b.disparity.height());
  std::size_t count = 0;
  for (int y = 0; y < a.disparity.height(); ++y)
    for (int x = 0; x < a.disparity.width(); ++x) count += a.disparity(x, y) == b.disparity(x, y) ? 0 : 1;
  return count;
}

struct SizeCase {
  int width, height, min, disparities, levels, iterations;
};

class BeliefMatchingSizes : public ::testing::TestWithParam<SizeCase> {};

TEST_P(BeliefMatchingSizes, EqualsTheTextbookEverywhere) {
  const SizeCase c = GetParam();
  for (const BeliefStorage storage :
       {BeliefStorage::kFloat, BeliefStorage::kHalf, BeliefStorage::kBfloat16}) {
    BeliefOptions options;
    options.storage = storage;
    options.levels = c.levels;
    options.iterations = c.iterations;
    const BeliefPair pair = random_pair(c.width, c.height, 7);
    const PairProblem problem = pair.problem({c.min, c.disparities}, options);
    const DisparityMap expected = reference::belief_matching(problem);
    EXPECT_EQ(differing(expected, belief_matching(problem)), 0u) << static_cast<int>(storage);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BeliefMatchingSizes,
                         ::testing::Values(SizeCase{1, 1, 0, 1, 5, 7}, SizeCase{1, 1, 0, 16, 1, 1},
                                           SizeCase{1, 9, 0, 7, 3, 4}, SizeCase{9, 1, 0, 7, 5, 7},
                                           SizeCase{2, 2, 0, 3, 2, 1}, SizeCase{33, 17, 0, 1, 5, 7},
                                           SizeCase{33, 17, 0, 7, 5, 7}, SizeCase{31, 19, 0, 100, 5, 7},
                                           SizeCase{64, 32, -3, 16, 4, 3}, SizeCase{65, 33, 2, 16, 1, 7},
                                           SizeCase{97, 41, 0, 21, 5, 1}, SizeCase{47, 23, 0, 257, 5, 2},
                                           SizeCase{20, 11, -20, 512, 3, 2}, SizeCase{300, 9, 0, 64, 5, 7},
                                           SizeCase{7, 150, 0, 12, 5, 7}, SizeCase{40, 30, 1000000, 4, 2, 2},
                                           SizeCase{130, 20, 0, 16, 3, 30}));

TEST(BeliefMatching, EqualsTheTextbookWithBlurAndOtherWeights) {
  const BeliefPair pair = random_pair(61, 37, 3);
  BeliefOptions options;
  options.smoothing_sigma = 0.7f;
  options.data_cap = 20.5f;
  options.smoothness_cap = 1.7f;
  for (const BeliefStorage storage : {BeliefStorage::kFloat, BeliefStorage::kHalf, BeliefStorage::kBfloat16})
    for (const float weight : {0.07f, 900.0f}) {  // coarse sums above and below the maximum of a half
      options.storage = storage;
      options.data_weight = weight;
      const PairProblem problem = pair.problem({0, 13}, options);
      EXPECT_EQ(differing(reference::belief_matching(problem), belief_matching(problem)), 0u)
          << static_cast<int>(storage) << " " << weight;
    }
}

TEST(BeliefMatching, ThreadsAndInstructionSetsChangeNothing) {
  const BeliefPair pair = random_pair(331, 143, 11);
  for (const BeliefStorage storage :
       {BeliefStorage::kFloat, BeliefStorage::kHalf, BeliefStorage::kBfloat16}) {
    BeliefOptions options;
    options.storage = storage;
    const PairProblem problem = pair.problem({0, 19}, options);
    const DisparityMap one = ThreadLimit(1).run([&] { return belief_matching(problem); });
    for (const int threads : {2, 5})
      EXPECT_EQ(differing(one, ThreadLimit(threads).run([&] { return belief_matching(problem); })), 0u)
          << threads;
    int sets = 0;
    for (const std::int64_t target : {HWY_SCALAR, HWY_SSSE3, HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
      if ((hwy::SupportedTargets() & target) == 0) continue;
      hwy::SetSupportedTargetsForTest(target);
      const DisparityMap map = belief_matching(problem);
      hwy::SetSupportedTargetsForTest(0);
      EXPECT_EQ(differing(one, map), 0u) << hwy::TargetName(target);
      ++sets;
    }
    EXPECT_GE(sets, kLeastInstructionSets) << "one instruction set alone is compared with itself";
  }
}

TEST(BeliefMatching, NarrowStorageHoldsManyDisparitiesAndGreatCosts) {
  const BeliefPair pair = random_pair(70, 40, 5);
  for (const BeliefStorage storage : {BeliefStorage::kHalf, BeliefStorage::kBfloat16}) {
    BeliefOptions options;
    options.storage = storage;
    const DisparityMap map = belief_matching(pair.problem({0, 512}, options));
    options.storage = BeliefStorage::kFloat;
    const DisparityMap exact = belief_matching(pair.problem({0, 512}, options));
    EXPECT_LT(differing(map, exact), 70u * 40u / 20u);

    // Sums of 16 000 000 in the coarsest level: a half stops at 65504, and the finer levels still see.
    options.storage = storage;
    options.data_weight = 4000.0f;
    const DisparityMap great = belief_matching(pair.problem({0, 512}, options));
    options.storage = BeliefStorage::kFloat;
    EXPECT_LT(differing(great, belief_matching(pair.problem({0, 512}, options))), 70u * 40u / 4u);
  }
}

class BeliefMatchingSets : public ::testing::TestWithParam<PaperSet> {};

/// The larger sets with fewer iterations, and the largest its upper part only: the textbook takes its time.
TEST_P(BeliefMatchingSets, EqualsTheTextbookAndNarrowStorageIsAsGood) {
  const PaperSet& set = GetParam();
  const std::filesystem::path folder = std::filesystem::path(RECON_SHARED_DIR) / "stereo" / set.name;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  BeliefPair pair{read_grey_image(folder / "refImage.pgm"), read_grey_image(folder / "testImage.pgm")};
  const Image<std::uint8_t> truth = read_grey_image(folder / set.truth);
  PairProblem problem = pair.problem({0, set.disparities}, {});
  problem.options.belief.storage = BeliefStorage::kFloat;
  if (set.disparities > 32) problem.options.belief.iterations = 2;
  ImageView<const std::uint8_t> known = truth.view();
  if (set.disparities > 64) problem.images.left.height = problem.images.right.height = known.height = 60;
  const DisparityMap map = belief_matching(problem);
  EXPECT_EQ(differing(reference::belief_matching(problem), map), 0u);
  const double bad = reference::bad_share(map, known, set);
  for (const BeliefStorage storage : {BeliefStorage::kHalf, BeliefStorage::kBfloat16}) {
    problem.options.belief.storage = storage;
    EXPECT_NEAR(reference::bad_share(belief_matching(problem), known, set), bad, 0.002);
  }
}

INSTANTIATE_TEST_SUITE_P(Paper, BeliefMatchingSets, ::testing::ValuesIn(reference::paper_sets()),
                         [](const auto& set) { return std::string(set.param.name); });

/// Felzenszwalb's program as its successors run it: bad pixels of all that have truth, per cent.
TEST(BeliefMatching, IsAsGoodAsTheOriginalOnItsSets) {
  const struct {
    std::size_t set;
    double bad;
  } originals[] = {{0, 0.0393}, {1, 0.0319}, {2, 0.0470}};
  for (const auto& original : originals) {
    const PaperSet& set = reference::paper_sets()[original.set];
    const std::filesystem::path folder = std::filesystem::path(RECON_SHARED_DIR) / "stereo" / set.name;
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
    const BeliefPair pair{read_grey_image(folder / "refImage.pgm"),
                          read_grey_image(folder / "testImage.pgm")};
    const DisparityMap map = belief_matching(pair.problem({0, set.disparities}, {}));
    const Image<std::uint8_t> truth = read_grey_image(folder / set.truth);
    EXPECT_LE(reference::bad_share(map, truth.view(), set), original.bad) << set.name;
  }
}

TEST(BeliefMatching, CountsItsMemory) {
  PairSpec options(presets::belief_propagation(), {0, 128});
  options.belief.storage = BeliefStorage::kFloat;
  const auto backend = make_cpu_backend({2, {}});
  const auto bytes = [&](int width, int height) {
    return backend->pair_memory(width, height, options).host_bytes;
  };
  const std::size_t wide = bytes(900, 750);
  // Costs and four messages of levels 1 to 4: a third of level 0's.
  EXPECT_GT(wide, std::size_t{900} * 750 * 128 * 5 * 4 / 3);
  EXPECT_LT(wide, std::size_t{900} * 750 * 128 * 5 * 4 / 2);
  options.belief.storage = BeliefStorage::kHalf;
  EXPECT_LT(bytes(900, 750), wide * 6 / 10);
  EXPECT_THROW(bytes(1 << 30, 1 << 30), OutOfMemory);
}

}  // namespace
}  // namespace recon

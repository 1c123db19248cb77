#include <gtest/gtest.h>

#include <future>

#include "cuda/gpu_test.hpp"
#include "cuda/pair_run.hpp"
#include "io/image/image_file.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/belief_problems.hpp"

namespace recon {
namespace {

using reference::BeliefPair;
using reference::PaperSet;
using reference::random_pair;

constexpr BeliefStorage kStorages[] = {BeliefStorage::kFloat, BeliefStorage::kHalf, BeliefStorage::kBfloat16};

/// On the device's memory poisoned, in every storage, to the bit.
void expect_same_as_cpu(PairProblem problem) {
  for (const BeliefStorage storage : kStorages) {
    problem.options.belief.storage = storage;
    const test::PairRun run = test::run_pair(problem, 0xFF);
    EXPECT_TRUE(test::same_image(belief_matching(problem).disparity, run.map.disparity))
        << "storage " << static_cast<int>(storage);
    EXPECT_EQ(run.arena_bytes, run.planned_bytes);
  }
}

struct BeliefCase {
  int width, height, min, disparities, levels, iterations;
};

class CudaBelief : public test::GpuTest<::testing::TestWithParam<BeliefCase>> {};

TEST_P(CudaBelief, EqualsTheCpuToTheBit) {
  const BeliefCase c = GetParam();
  BeliefOptions options;
  options.levels = c.levels;
  options.iterations = c.iterations;
  const BeliefPair pair = random_pair(c.width, c.height, 7);
  expect_same_as_cpu(pair.problem({c.min, c.disparities}, options));
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaBelief,
                         ::testing::Values(BeliefCase{1, 1, 0, 1, 5, 7}, BeliefCase{1, 1, 0, 16, 1, 1},
                                           BeliefCase{1, 9, 0, 7, 3, 4}, BeliefCase{9, 1, 0, 7, 5, 7},
                                           BeliefCase{2, 2, 0, 3, 2, 1}, BeliefCase{33, 17, 0, 1, 5, 7},
                                           BeliefCase{131, 67, 0, 16, 5, 7}, BeliefCase{131, 67, 0, 32, 5, 2},
                                           BeliefCase{67, 35, 0, 64, 5, 7}, BeliefCase{67, 35, 0, 128, 5, 7},
                                           BeliefCase{31, 19, 0, 100, 5, 7}, BeliefCase{64, 32, -3, 16, 4, 3},
                                           BeliefCase{97, 41, 0, 21, 5, 1}, BeliefCase{47, 23, 0, 257, 5, 2},
                                           BeliefCase{20, 11, -20, 512, 3, 2}, BeliefCase{37, 21, 0, 8, 3, 3},
                                           BeliefCase{37, 21, 0, 9, 3, 3}, BeliefCase{21, 13, 0, 265, 2, 3},
                                           BeliefCase{300, 9, 0, 64, 1, 8}, BeliefCase{7, 150, 0, 12, 8, 7},
                                           BeliefCase{40, 30, 1000000, 4, 2, 2},
                                           BeliefCase{33, 9, 0, 4096, 2, 2}));

class CudaBeliefStreams : public test::GpuTest<> {};

/// Pairs on two streams need different amounts of shared memory of one kernel.
TEST_F(CudaBeliefStreams, MayNeedOtherSharedMemory) {
  const auto backend = make_cuda_backend({});
  const BeliefPair pair = random_pair(47, 23, 7);
  const auto match_often = [&](int disparities) {
    BeliefOptions options;
    options.levels = 2, options.iterations = 1;
    PairProblem problem = pair.problem({0, disparities}, options);
    const DisparityMap expected = belief_matching(problem);
    for (int i = 0; i < 300; ++i)
      if (!test::same_image(expected.disparity, backend->match(problem).disparity)) return false;
    return true;
  };
  auto other = std::async(std::launch::async, match_often, 250);
  EXPECT_TRUE(match_often(110));
  EXPECT_TRUE(other.get());
}

class CudaBeliefBlur : public test::GpuTest<> {};

TEST_F(CudaBeliefBlur, EqualsTheCpuToTheBit) {
  BeliefOptions options;
  options.smoothing_sigma = 0.7f;
  options.data_weight = 4000.0f;
  options.data_cap = 20.5f;
  options.smoothness_cap = 1.7f;
  const BeliefPair pair = random_pair(61, 37, 3);
  expect_same_as_cpu(pair.problem({0, 13}, options));
}

class CudaBeliefCones : public test::GpuTest<::testing::TestWithParam<int>> {};

/// Costs so far apart that cones reach over many disparities.
TEST_P(CudaBeliefCones, EqualTheCpuToTheBit) {
  BeliefOptions options;
  options.iterations = 3;
  options.data_weight = 3.7f;
  options.data_cap = 30.0f;
  options.smoothness_cap = 40.0f;
  const BeliefPair pair = random_pair(45 + GetParam(), 7, 5);
  expect_same_as_cpu(pair.problem({0, GetParam()}, options));
}

INSTANTIATE_TEST_SUITE_P(Disparities, CudaBeliefCones, ::testing::Values(16, 21, 32, 64, 100, 128, 273, 530));

class CudaBeliefSets : public test::GpuTest<::testing::TestWithParam<PaperSet>> {};

TEST_P(CudaBeliefSets, EqualTheCpuToTheBit) {
  const PaperSet& set = GetParam();
  const std::filesystem::path folder = std::filesystem::path(RECON_SHARED_DIR) / "stereo" / set.name;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const BeliefPair pair{read_grey_image(folder / "refImage.pgm"), read_grey_image(folder / "testImage.pgm")};
  expect_same_as_cpu(pair.problem({0, set.disparities}, {}));
}

INSTANTIATE_TEST_SUITE_P(Paper, CudaBeliefSets, ::testing::ValuesIn(reference::paper_sets()),
                         [](const auto& set) { return std::string(set.param.name); });

}  // namespace
}  // namespace recon

// Block matching on the GPU finds what the CPU and the textbook find, at every pixel.

#include <gtest/gtest.h>

#include <cmath>

#include "cuda/gpu_test.hpp"
#include "cuda/pair_run.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/block_cases.hpp"
#include "reference/block_reference.hpp"

namespace recon {
namespace {

using reference::BlockCase;
using reference::BlockPair;
using reference::textured_pair;

class CudaBlock : public test::GpuTest<testing::TestWithParam<BlockCase>> {};

TEST_P(CudaBlock, EqualsTheReferenceAndTheCpu) {
  const BlockPair pair = GetParam().pair();
  const Image<float> expected = reference::block_matching(pair.problem);
  EXPECT_TRUE(test::same_image(expected, block_matching(pair.problem).disparity)) << "CPU";
  for (const int poison : {0xFF, 0x00}) {
    const test::PairRun run = test::run_pair(pair.problem, static_cast<std::uint8_t>(poison));
    EXPECT_TRUE(test::same_image(expected, run.map.disparity)) << "CUDA, memory of " << poison;
    EXPECT_LE(run.arena_bytes, run.planned_bytes);
  }
}

std::string name_of(const testing::TestParamInfo<BlockCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaBlock, testing::ValuesIn(reference::block_cases()), name_of);

class CudaBlockLarge : public test::GpuTest<> {};

/// Every kernel, several tiles and strips.
TEST_F(CudaBlockLarge, EqualsTheCpu) {
  for (const int count : {48, 64, 128, 200, 256, 400, 512, 700})
    for (const int radius : {4, 9, 15}) {
      BlockMatchingOptions options;
      options.radius = radius;
      const BlockPair pair = textured_pair(641, 203, {-5, count}, options);
      EXPECT_TRUE(test::same_image(block_matching(pair.problem).disparity,
                                   test::run_pair(pair.problem, 0xFF).map.disparity))
          << count << " disparities, radius " << radius;
    }
}

TEST_F(CudaBlockLarge, EqualsTheCpuForSquaresAndSteps) {
  for (const int steps : {1, 4}) {
    BlockMatchingOptions options;
    options.cost = BlockCost::kSsd;
    options.prefilter = BlockPrefilter::kNone;
    options.steps_per_pixel = steps;
    const BlockPair pair = textured_pair(403, 171, {3, 90}, options);
    EXPECT_TRUE(test::same_image(block_matching(pair.problem).disparity,
                                 test::run_pair(pair.problem, 0xFF).map.disparity));
  }
}

}  // namespace
}  // namespace recon

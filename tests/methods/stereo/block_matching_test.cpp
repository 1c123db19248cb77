#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>

#include "core/parallel.hpp"
#include "methods/stereo/block/block_plan.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/block_cases.hpp"
#include "reference/block_reference.hpp"
#include "steps/instruction_sets.hpp"

namespace recon {
namespace {

using reference::BlockCase;
using reference::BlockPair;
using reference::textured_pair;

/// Equal to the bit where both are known, and unknown at the same pixels.
testing::AssertionResult same_map(const Image<float>& expected, const Image<float>& found) {
  if (expected.width() != found.width() || expected.height() != found.height())
    return testing::AssertionFailure() << "sizes differ";
  int different = 0;
  std::string first;
  for (int y = 0; y < found.height(); ++y)
    for (int x = 0; x < found.width(); ++x) {
      const float a = expected(x, y), b = found(x, y);
      if ((std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0) continue;
      if (different++ == 0)
        first = "first at (" + std::to_string(x) + ", " + std::to_string(y) + "): " + std::to_string(a) +
                " expected, " + std::to_string(b) + " found";
    }
  if (different == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << different << " pixels differ, " << first;
}

int known_pixels(const Image<float>& map) {
  int known = 0;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) known += std::isnan(map(x, y)) ? 0 : 1;
  return known;
}

class BlockMatchingOracle : public testing::TestWithParam<BlockCase> {};

TEST_P(BlockMatchingOracle, EqualsThePipelineOfVolumes) {
  const BlockPair pair = GetParam().pair();
  const Image<float> expected = reference::block_matching(pair.problem);
  EXPECT_TRUE(same_map(expected, block_matching(pair.problem).disparity));
  RecordProperty("known", known_pixels(expected));
}

std::string name_of(const testing::TestParamInfo<BlockCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, BlockMatchingOracle, testing::ValuesIn(reference::block_cases()), name_of);

TEST(BlockMatching, IsTheSameOnEveryInstructionSetAndForAnyNumberOfThreads) {
  for (const BlockCost cost : {BlockCost::kSad, BlockCost::kSsd}) {
    BlockMatchingOptions options;
    options.cost = cost;
    options.steps_per_pixel = 2;
    const BlockPair pair = textured_pair(203, 91, {-3, 45}, options);
    ThreadLimit one(1), three(3);
    const Image<float> expected = one.run([&] { return block_matching(pair.problem); }).disparity;
    EXPECT_GT(known_pixels(expected), 203 * 91 / 3);
    EXPECT_TRUE(same_map(expected, three.run([&] { return block_matching(pair.problem); }).disparity));
    const auto targets = hwy::SupportedTargets();
    int sets = 0;
    for (auto rest = targets & HWY_TARGETS; rest != 0; rest &= rest - 1) {
      const auto target = rest & (~rest + 1);
      hwy::SetSupportedTargetsForTest(target);
      EXPECT_TRUE(same_map(expected, block_matching(pair.problem).disparity)) << hwy::TargetName(target);
      ++sets;
    }
    hwy::SetSupportedTargetsForTest(0);
    EXPECT_GE(sets, kLeastInstructionSets) << "one instruction set alone is compared with itself";
  }
}

/// Rows of a picture that repeats nowhere, and the same `shift` pixels further left.
BlockPair shifted_pair(int shift, DisparityRange range) {
  BlockPair pair = textured_pair(60, 24, range, {});
  reference::Numbers numbers(7);
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 60; ++x) pair.left(x, y) = static_cast<std::uint8_t>(numbers.below(256));
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 60; ++x) pair.right(x, y) = x + shift < 60 ? pair.left(x + shift, y) : 0;
  return pair;
}

TEST(BlockMatching, FindsAShiftAndNotWhatTheRightImageDoesNotShow) {
  BlockPair pair = shifted_pair(6, {0, 16});
  const Image<float> map = block_matching(pair.problem).disparity;
  int known_outside = 0;
  for (int y = 0; y < 24; ++y) {
    for (int x = 0; x < 2; ++x) known_outside += std::isnan(map(x, y)) ? 0 : 1;
    for (int x = 11; x < 55; ++x) EXPECT_NEAR(map(x, y), 6.0f, 0.25f) << x << " " << y;
  }
  EXPECT_LT(known_outside, 12) << "of 48 pixels that the right image does not show";
}

TEST(BlockMatching, FindsHalfAPixel) {
  BlockPair pair = shifted_pair(0, {0, 8});
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 60; ++x) {
      pair.left(x, y) = static_cast<std::uint8_t>(128 + 60 * std::sin(0.35 * x + y));
      pair.right(x, y) = static_cast<std::uint8_t>(128 + 60 * std::sin(0.35 * (x + 3.5) + y));
    }
  for (const int steps : {2, 4}) {
    pair.problem.options.block.steps_per_pixel = steps;
    pair.problem.options.block.subpixel = false;
    const Image<float> map = block_matching(pair.problem).disparity;
    for (int x = 15; x < 50; ++x) EXPECT_NEAR(map(x, 12), 3.5f, steps == 2 ? 0.0f : 0.25f) << x;
  }
}

TEST(BlockMatching, TakesTheSmallestDisparityWhereAllAreAsGood) {
  BlockPair pair = shifted_pair(0, {2, 9});
  pair.left.fill(90);
  pair.right.fill(90);
  BlockMatchingOptions& options = pair.problem.options.block;
  options.left_right = -1;
  options.uniqueness = 0;
  const Image<float> map = block_matching(pair.problem).disparity;
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 60; ++x) EXPECT_EQ(map(x, y), 2.0f);
  options.uniqueness = 1;
  EXPECT_EQ(known_pixels(block_matching(pair.problem).disparity), 60 * 24) << "0 is not dearer than 0";
  options.min_texture = 0.01f;
  EXPECT_EQ(known_pixels(block_matching(pair.problem).disparity), 0);
}

TEST(BlockMatching, RefusesOptionsOutOfRange) {
  const auto refused = [](auto change) {
    BlockPair pair = shifted_pair(0, {0, 4});
    change(pair.problem.options.block);
    EXPECT_THROW(block_matching(pair.problem), std::logic_error);
  };
  using Options = BlockMatchingOptions;
  refused([](Options& o) { o.radius = 0; });
  refused([](Options& o) { o.radius = 16; });
  refused([](Options& o) { o.steps_per_pixel = 3; });
  refused([](Options& o) { o.prefilter_cap = 32; });
  refused([](Options& o) { o.uniqueness = 100; });
  refused([](Options& o) { o.pyramid_levels = 0; });
  refused([](Options& o) { o.region = {50, 0, 11, 4}; });
  refused([](Options& o) { o.region = {0, 0, -1, 4}; });
}

TEST(BlockPyramid, EachLevelSearchesAsManyDisparities) {
  BlockMatchingOptions options;
  options.pyramid_levels = 3;
  const auto levels = plan_block_levels(101, 50, {-3, 64}, options);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].searched.min, -3);
  EXPECT_EQ(levels[0].searched.count, 16);  // -3 .. 12
  EXPECT_EQ(levels[1].searched.min, -2);
  EXPECT_EQ(levels[1].searched.count, 17);  // -4 .. 29 in the pixels of the finest
  EXPECT_EQ(levels[2].searched.min, -1);
  EXPECT_EQ(levels[2].searched.count, 17);  // -4 .. 63
  EXPECT_EQ(levels[2].width, 26);
  EXPECT_EQ(levels[2].height, 13);
}

}  // namespace
}  // namespace recon

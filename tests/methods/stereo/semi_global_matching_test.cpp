#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>

#include "core/parallel.hpp"
#include "match/transformed_image.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/semi_global_problems.hpp"
#include "reference/semi_global_reference.hpp"
#include "steps/instruction_sets.hpp"

namespace recon {
namespace {

using reference::OwnedPair;
using reference::SemiGlobalCase;

std::uint32_t bits(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  return std::isnan(value) ? 0x7fc00000u : word;
}

void expect_same_bits(const Image<float>& found, const Image<float>& expected, const std::string& where) {
  ASSERT_EQ(found.width(), expected.width());
  ASSERT_EQ(found.height(), expected.height());
  for (int y = 0; y < expected.height(); ++y)
    for (int x = 0; x < expected.width(); ++x)
      ASSERT_EQ(bits(found(x, y)), bits(expected(x, y)))
          << where << " at " << x << " " << y << ": " << found(x, y) << ", expected " << expected(x, y);
}

class SemiGlobalOracle : public testing::TestWithParam<SemiGlobalCase> {};

TEST_P(SemiGlobalOracle, EqualsTheTextbook) {
  const OwnedPair pair = make_pair_of(GetParam());
  expect_same_bits(match_pair(pair.problem).disparity, reference::semi_global_disparity(pair.problem),
                   GetParam().name);
}

TEST_P(SemiGlobalOracle, EveryInstructionSetGivesTheSameBits) {
  const OwnedPair pair = make_pair_of(GetParam());
  const Image<float> expected = match_pair(pair.problem).disparity;
  int sets = 0;
  for (const std::int64_t target : {HWY_SCALAR, HWY_SSSE3, HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    const Image<float> found = match_pair(pair.problem).disparity;
    hwy::SetSupportedTargetsForTest(0);
    ++sets;
    expect_same_bits(found, expected, hwy::TargetName(target));
  }
  EXPECT_GE(sets, kLeastInstructionSets) << "one instruction set alone is compared with itself";
}

TEST_P(SemiGlobalOracle, EveryNumberOfThreadsGivesTheSameBits) {
  const OwnedPair pair = make_pair_of(GetParam());
  const Image<float> expected = match_pair(pair.problem).disparity;
  for (const int threads : {1, 2, 5})
    expect_same_bits(ThreadLimit(threads).run([&] { return match_pair(pair.problem).disparity; }), expected,
                     std::to_string(threads) + " threads");
}

INSTANTIATE_TEST_SUITE_P(Cases, SemiGlobalOracle, testing::ValuesIn(reference::semi_global_cases()),
                         [](const auto& which) { return which.param.name; });

TEST(TransformedImage, HoldsTheBitsOfTheTextbook) {
  for (const bool deep : {false, true}) {
    const OwnedPair pair = reference::random_pair(71, 12, {0, 8}, 3, deep, 0.05);
    Image<std::uint16_t> grey(71, 12), grey8(71, 12);
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 71; ++x)
        grey8(x, y) = pair.left(x, y), grey(x, y) = deep ? pair.left16(x, y) : pair.left(x, y);
    int weak = 0;
    for (const TransformOptions options :
         {TransformOptions{Transform::kRank, 5}, TransformOptions{Transform::kRank, 15},
          TransformOptions{Transform::kCensus5x5, 9}, TransformOptions{Transform::kCensus9x7, 9},
          TransformOptions{Transform::kSymmetricCensus, 9}, TransformOptions{Transform::kScaledCensus, 9}}) {
      const bool scaled = options.transform == Transform::kScaledCensus;
      const TransformedImage image =
          deep ? TransformedImage(pair.left16.view(), pair.left.view(), options, false)
               : TransformedImage(pair.left.view(), options, false);
      for (int y = 0; y < 12; ++y)
        for (int x = 0; x < 71; ++x) {
          const int odd_bits = max_transform_cost(options) % 8;
          std::uint64_t value = 0;
          for (int b = 0; b < image.bytes() - (scaled ? 1 : 0); ++b) {
            const bool part = options.transform != Transform::kRank && b + 1 == image.bytes() && odd_bits > 0;
            value = value << (part ? odd_bits : 8) | image.row(y, b)[x];
          }
          ASSERT_EQ(value, reference::transform_at(grey.view(), options, x, y)) << x << " " << y;
          if (!scaled) continue;
          const bool is_weak = reference::is_weak_at(grey8.view(), x, y);
          ASSERT_EQ(image.row(y, 6)[x], is_weak ? 3 : 0) << x << " " << y;
          weak += is_weak ? 1 : 0;
        }
    }
    EXPECT_TRUE(weak > 71 && weak < 11 * 71) << weak;
  }
}

TEST(SemiGlobalMatching, RefusesOptionsOutOfRange) {
  OwnedPair pair = reference::random_pair(9, 5, {0, 4}, 1);
  const auto refused = [&](auto change) {
    PairProblem problem = pair.problem;
    change(problem.options);
    EXPECT_THROW(match_pair(problem), std::logic_error);
  };
  refused([](auto& o) { o.semi_global.paths = 5; });
  refused([](auto& o) { o.semi_global.p1 = o.semi_global.p2 + 1; });
  refused([](auto& o) { o.semi_global.p1 = -1; });
  refused([](auto& o) { o.semi_global.p2 = kMaxPathCost - 23; });
  refused([](auto& o) { o.semi_global.p2_falloff = -1; });
  refused([](auto& o) { o.cost.outside_cost = 256; });
  refused([](auto& o) { o.uniqueness = 100; });
  refused([](auto& o) { o.left_right = -1; });
  refused([](auto& o) { o.cost.transform = {Transform::kRank, 4}; });
  refused([](auto& o) { o.cost.transform = {Transform::kRank, 17}; });
}

}  // namespace
}  // namespace recon

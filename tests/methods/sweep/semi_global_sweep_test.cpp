#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "core/parallel.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "reference/sweep_problems.hpp"
#include "steps/path_sweep.hpp"

namespace recon {
namespace {

TEST(SweepBlocks, ASmallViewIsOneBlock) {
  const auto blocks = sweep_blocks(100, 70, 64, 100 * 70 * 64);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].outer.width, 100);
  EXPECT_EQ(blocks[0].inner.height, 70);
}

TEST(SweepBlocks, CoverEachPixelOnceAndFit) {
  for (const auto& [width, height, planes] : {std::array{301, 222, 65}, {640, 3, 200}, {33, 500, 1}}) {
    const std::size_t budget = 130 * 90 * static_cast<std::size_t>(cost_stride(planes));
    Image<int> covered(width, height, 0);
    for (const SweepBlock& block : sweep_blocks(width, height, planes, budget)) {
      const Tile &outer = block.outer, &inner = block.inner;
      EXPECT_LE(static_cast<std::size_t>(outer.width * outer.height * cost_stride(planes)), budget);
      EXPECT_EQ(outer.x, std::max(0, inner.x - kBlockMargin));
      EXPECT_EQ(outer.y, std::max(0, inner.y - kBlockMargin));
      EXPECT_EQ(outer.x + outer.width, std::min(width, inner.x + inner.width + kBlockMargin));
      EXPECT_EQ(outer.y + outer.height, std::min(height, inner.y + inner.height + kBlockMargin));
      for (int y = inner.y; y < inner.y + inner.height; ++y)
        for (int x = inner.x; x < inner.x + inner.width; ++x) ++covered(x, y);
    }
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) ASSERT_EQ(covered(x, y), 1) << x << " " << y;
  }
}

TEST(SweepBlocks, TheCostsOfLargeViewsStayWithinTheDefault) {
  const Tile block = largest_block(sweep_blocks(6000, 4000, 512, MethodSpec().block_bytes));
  EXPECT_LE(element_count({block.width, block.height, 512}), MethodSpec().block_bytes);
  EXPECT_GT(element_count({block.width, block.height, 512}), MethodSpec().block_bytes * 3 / 4);
}

bool same(const Image<float>& a, const Image<float>& b, int x, int y, int bx, int by) {
  return std::memcmp(&a(x, y), &b(bx, by), sizeof(float)) == 0 ||
         (std::isnan(a(x, y)) && std::isnan(b(bx, by)));
}

/// Compares the pixels of `inner` with those of a reference estimate of `outer`.
void expect_same(const DepthEstimate& estimate, const DepthEstimate& expected, const SweepBlock& block) {
  int wrong = 0, unknown = 0;
  for (int y = block.inner.y; y < block.inner.y + block.inner.height; ++y)
    for (int x = block.inner.x; x < block.inner.x + block.inner.width; ++x) {
      const int bx = x - block.outer.x, by = y - block.outer.y;
      wrong += !same(estimate.depth, expected.depth, x, y, bx, by) ||
               !same(estimate.cost, expected.cost, x, y, bx, by) ||
               !same(estimate.confidence, expected.confidence, x, y, bx, by);
      unknown += std::isnan(estimate.depth(x, y));
    }
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(unknown, block.inner.width * block.inner.height) << "the case compares nothing";
}

struct PathCase {
  const char* name;
  reference::ProblemShape shape;
  CostOptions options;
  SemiGlobalOptions penalties;
};

class PathSweepOracle : public testing::TestWithParam<PathCase> {};

TEST_P(PathSweepOracle, EqualsItsSteps) {
  reference::OwnedProblem owned = reference::random_problem(GetParam().shape, GetParam().options);
  owned.problem.optimizer = Optimizer::kSemiGlobal;
  owned.problem.semi_global = GetParam().penalties;
  const Tile all{0, 0, GetParam().shape.width, GetParam().shape.height};
  expect_same(sweep_view(owned.problem), steps::path_estimate(owned.problem), {all, all});
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PathSweepOracle,
    testing::Values(PathCase{"Zncc", {}, {}, {8, 5, 60, 10}},
                    PathCase{"ZnccManyPlanes", {41, 23, 37, 23, 3, 67, 1, 6, 2}, {}, {8, 5, 60, 10}},
                    PathCase{"Sad",
                             {31, 17, 37, 23, 2, 33, 1, 4, 3},
                             {CostKind::kSad, 5, Combination::kMean, 1},
                             {8, 7, 40, 0}},
                    PathCase{"Colour",
                             {29, 19, 31, 23, 2, 16, 3, 4, 4},
                             {CostKind::kSad, 3, Combination::kMinimum, 1},
                             {4, 5, 60, 10}},
                    PathCase{"SixteenBits", {31, 17, 37, 23, 2, 21, 1, 4, 5}, {}, {8, 100, 900, 4}},
                    PathCase{"TwoPlanes", {15, 9, 17, 11, 1, 2, 1, 4, 6}, {}, {8, 5, 60, 10}},
                    PathCase{"OneRow", {40, 1, 37, 23, 2, 9, 1, 4, 7}, {}, {8, 5, 60, 10}}),
    [](const auto& one) { return one.param.name; });

TEST(SemiGlobalSweep, BlocksAreSweptByThemselves) {
  reference::OwnedProblem owned = reference::random_problem({150, 90, 160, 100, 2, 12, 1, 3, 8}, {});
  owned.problem.optimizer = Optimizer::kSemiGlobal;
  owned.problem.block_bytes = 100 * 80 * 64;
  const auto blocks = sweep_blocks(150, 90, 12, owned.problem.block_bytes);
  ASSERT_GT(blocks.size(), 2u);
  const DepthEstimate estimate = sweep_view(owned.problem);
  for (const SweepBlock& block : blocks) {
    SweepProblem part = owned.problem;
    part.reference = cropped(owned.problem.reference, block.outer);
    expect_same(estimate, steps::path_estimate(part), block);
  }
}

TEST(SemiGlobalSweep, DoesNotDependOnThreads) {
  reference::OwnedProblem owned = reference::random_problem({61, 47, 60, 50, 3, 40, 1, 5, 9}, {});
  owned.problem.optimizer = Optimizer::kSemiGlobal;
  const Tile all{0, 0, 61, 47};
  DepthEstimate one = ThreadLimit(1).run([&] { return sweep_view(owned.problem); });
  DepthEstimate four = ThreadLimit(4).run([&] { return sweep_view(owned.problem); });
  expect_same(one, four, {all, all});
}

}  // namespace
}  // namespace recon

#include "optimize/semi_global/semi_global.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"
#include "core/wavefront.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "reference/semi_global_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "steps/path_sums.hpp"

namespace recon {
namespace {

using reference::IntVolume;

/// Costs from a volume; counts the pixels computed.
CostSource source_of(const IntVolume& volume, std::atomic<int>& computed) {
  return [&](int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) {
    computed += count;
    for (int i = 0; i < count; ++i)
      for (int d = 0; d < volume.planes; ++d)
        costs[i * stride + d] = static_cast<std::uint8_t>(volume(first + i, y, d));
  };
}

/// The costs in the layout of SemiGlobalProblem::stored_costs.
AlignedBuffer<std::uint8_t> stored_costs(const IntVolume& volume) {
  const std::ptrdiff_t stride = cost_stride(volume.planes);
  const std::size_t size = element_count({stride, volume.width, volume.height});
  AlignedBuffer<std::uint8_t> stored(size);
  std::fill_n(stored.data(), size, std::uint8_t{255});
  for (int y = 0; y < volume.height; ++y)
    for (int x = 0; x < volume.width; ++x)
      for (int d = 0; d < volume.planes; ++d)
        stored.data()[(y * volume.width + x) * stride + d] = static_cast<std::uint8_t>(volume(x, y, d));
  return stored;
}

IntVolume random_costs(int width, int height, int planes, int max_cost) {
  IntVolume costs(width, height, planes);
  std::uint32_t i = 0;
  for (int& cost : costs.values) cost = static_cast<int>(reference::hashed(7, ++i) * (max_cost + 1));
  return costs;
}

TEST(SemiGlobalStep, FiveByOneByHand) {
  IntVolume costs(5, 1, 2);
  const int given[5][2] = {{3, 7}, {9, 1}, {4, 4}, {0, 8}, {6, 2}};
  for (int x = 0; x < 5; ++x)
    for (int d = 0; d < 2; ++d) costs(x, 0, d) = given[x][d];
  Image<std::uint8_t> guide(5, 1, 100);
  // From the left with P1 = 2: (3, 7); min 3: (9 + 0, 1 + 2); min 3: (4 + 2, 4 + 0); min 4: (0 + 2,
  // 8 + 0); min 2: (6 + 0, 2 + 2).
  const int expected[5][2] = {{3, 7}, {9, 3}, {6, 4}, {2, 8}, {6, 4}};
  const IntVolume paths = reference::path_costs(costs, guide.view(), {8, 2, 5, 0}, 1, 0);
  for (int x = 0; x < 5; ++x)
    for (int d = 0; d < 2; ++d) EXPECT_EQ(paths(x, 0, d), expected[x][d]) << x << " " << d;
  const IntVolume by_step = steps::path_costs(costs, guide.view(), {8, 2, 5, 0}, {1, 0});
  EXPECT_EQ(by_step.values, paths.values);
}

TEST(SemiGlobalStep, PenaltyFallsWithTheEdgeDownToP1) {
  const SemiGlobalOptions options{8, 12, 80, 16};
  EXPECT_EQ(edge_penalty(options, 0), 80);
  EXPECT_EQ(edge_penalty(options, 16), 40);
  EXPECT_EQ(edge_penalty(options, 255), 13);
  EXPECT_EQ(edge_penalty({8, 12, 80, 0}, 255), 80);
  EXPECT_EQ(edge_penalty({8, 12, 12, 16}, 255), 12);
  for (int g = 1; g < 256; ++g) EXPECT_LE(edge_penalty(options, g), edge_penalty(options, g - 1));
}

TEST(SemiGlobalStep, PathCostsStayWithinTheirBound) {
  for (const int planes : {1, 2, 9}) {
    const IntVolume costs = random_costs(40, 9, planes, 255);
    Image<std::uint8_t> guide(40, 9);
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 40; ++x) guide(x, y) = static_cast<std::uint8_t>(x * 37 + y * 11);
    const SemiGlobalOptions options{8, 50, 300, 20};
    for (const PathStep step : kPathSteps)
      for (const int value : reference::path_costs(costs, guide.view(), options, step.x, step.y).values) {
        EXPECT_GE(value, 0);
        EXPECT_LE(value, 255 + options.p2);
      }
  }
}

struct PathShape {
  int width, height, planes, max_cost;
  SemiGlobalOptions options;
};

class SemiGlobalOptimizer : public testing::TestWithParam<PathShape> {};

TEST_P(SemiGlobalOptimizer, WinnersEqualTheTextbookAndTheSteps) {
  const PathShape& shape = GetParam();
  const IntVolume costs = random_costs(shape.width, shape.height, shape.planes, shape.max_cost);
  Image<std::uint8_t> guide(shape.width, shape.height);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) guide(x, y) = static_cast<std::uint8_t>(x * 13 ^ y * 29);
  const IntVolume sums = reference::summed_path_costs(costs, guide.view(), shape.options);
  ASSERT_EQ(steps::path_sums(costs, guide.view(), shape.options).values, sums.values);
  std::atomic<int> computed{0};
  const AlignedBuffer<std::uint8_t> stored = stored_costs(costs);
  SemiGlobalProblem problem;
  problem.max_cost = shape.max_cost;
  problem.planes = shape.planes;
  problem.guide = guide.view();
  problem.options = shape.options;
  for (const bool are_stored : {false, true}) {
    problem.costs = are_stored ? CostSource() : source_of(costs, computed);
    problem.stored_costs = are_stored ? stored.data() : nullptr;
    std::vector<std::atomic<int>> rows(static_cast<std::size_t>(shape.height));
    const auto sum = [](int value) { return value < 0 ? int{kNoSum} : value; };
    semi_global(problem, [&](int y, const PathWinner* winners, const std::uint16_t* right) {
      ++rows[static_cast<std::size_t>(y)];
      EXPECT_EQ(right, nullptr);
      for (int x = 0; x < shape.width; ++x) {
        const reference::IntWinner expected = reference::winner_of(sums, x, y);
        ASSERT_EQ(winners[x].plane, expected.plane) << x << " " << y;
        ASSERT_EQ(winners[x].cost, expected.cost) << x << " " << y;
        ASSERT_EQ(winners[x].before, sum(expected.before)) << x << " " << y;
        ASSERT_EQ(winners[x].after, sum(expected.after)) << x << " " << y;
        ASSERT_EQ(winners[x].second, sum(expected.second)) << x << " " << y;
      }
    });
    for (const std::atomic<int>& calls : rows) EXPECT_EQ(calls, 1);
  }
  EXPECT_LE(computed, 2 * shape.width * shape.height);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SemiGlobalOptimizer,
                         testing::Values(PathShape{1, 1, 1, 0, {8, 0, 0, 0}},
                                         PathShape{37, 11, 3, 200, {8, 5, 55, 3}},
                                         PathShape{37, 11, 64, 127, {8, 5, 128, 3}},
                                         PathShape{70, 40, 65, 255, {4, 9, 12, 0}},
                                         PathShape{130, 25, 128, 60, {8, 9, 60, 30}},
                                         PathShape{20, 9, 300, 255, {8, 100, kMaxPathCost - 255, 9}},
                                         PathShape{90, 700, 130, 90, {8, 9, 120, 30}}));

TEST(SemiGlobalErrors, ThrowsOnWhatItsSourceAndItsSinkThrow) {
  const IntVolume costs = random_costs(300, 40, 5, 9);
  std::atomic<int> computed{0};
  Image<std::uint8_t> guide(300, 40, 0);
  SemiGlobalProblem problem;
  problem.costs = [](int y, int, int, std::uint8_t*, std::ptrdiff_t) {
    if (y == 20) throw std::runtime_error("no costs");
  };
  problem.max_cost = 9;
  problem.planes = 5;
  problem.guide = guide.view();
  EXPECT_THROW(semi_global(problem, [](int, const PathWinner*, const std::uint16_t*) {}), std::runtime_error);
  problem.costs = source_of(costs, computed);
  const auto failing_sink = [](int y, const PathWinner*, const std::uint16_t*) {
    if (y == 7) throw std::runtime_error("no place");
  };
  EXPECT_THROW(semi_global(problem, failing_sink), std::runtime_error);
}

TEST(Wavefront, EveryPieceOnceAndBehindTheRowAbove) {
  for (const WavefrontShape shape :
       {WavefrontShape{1, 1, 8}, WavefrontShape{3, 1, 8}, WavefrontShape{2, 4, 8}, WavefrontShape{4, 3, 7}}) {
    const int rows = 23, columns = 61;
    std::vector<std::atomic<int>> done(rows);
    std::atomic<int> early{0};
    ThreadLimit(4).run([&] {
      wavefront(rows, columns, shape, [&](int worker, int row, int begin, int end) {
        const std::size_t at = static_cast<std::size_t>(row);
        early += worker < 0 || worker >= shape.workers || done[at] != begin;
        early += row > 0 && done[at - 1] < std::min(end + 1, columns);
        done[at] = end;
      });
    });
    EXPECT_EQ(early, 0);
    for (const std::atomic<int>& end : done) EXPECT_EQ(end, columns);
  }
}

}  // namespace
}  // namespace recon

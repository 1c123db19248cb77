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

namespace recon {
namespace {

using reference::IntVolume;

/// Costs from a volume; counts the requests for each pixel.
class StoredCosts : public CostSource {
 public:
  StoredCosts(const IntVolume& volume, int greatest) : volume_(volume), greatest_(greatest) {}
  int max_cost() const override { return greatest_; }
  void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const override {
    asked += count;
    for (int i = 0; i < count; ++i)
      for (int d = 0; d < volume_.planes; ++d)
        costs[i * stride + d] = static_cast<std::uint8_t>(volume_(first + i, y, d));
  }
  mutable std::atomic<int> asked{0};

 private:
  const IntVolume& volume_;
  int greatest_;
};

IntVolume random_costs(int width, int height, int planes, int greatest) {
  IntVolume costs(width, height, planes);
  std::uint32_t i = 0;
  for (int& cost : costs.values) cost = static_cast<int>(reference::hashed(7, ++i) * (greatest + 1));
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
  EXPECT_EQ(path_cost(9, 3, 1000, 7, 3, 2, 5), 9);
  EXPECT_EQ(path_cost(1, 7, 3, 1000, 3, 2, 5), 3);
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

struct Shape {
  int width, height, planes, greatest;
  SemiGlobalOptions options;
};

class SemiGlobalOptimizer : public testing::TestWithParam<Shape> {};

TEST_P(SemiGlobalOptimizer, WinnersEqualTheTextbook) {
  const Shape& shape = GetParam();
  const IntVolume costs = random_costs(shape.width, shape.height, shape.planes, shape.greatest);
  const StoredCosts source(costs, shape.greatest);
  Image<std::uint8_t> guide(shape.width, shape.height);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) guide(x, y) = static_cast<std::uint8_t>(x * 13 ^ y * 29);
  const IntVolume sums = reference::summed_path_costs(costs, guide.view(), shape.options);
  SemiGlobalProblem problem;
  problem.costs = &source;
  problem.planes = shape.planes;
  problem.guide = guide.view();
  problem.options = shape.options;
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
  EXPECT_LE(source.asked, 2 * shape.width * shape.height);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SemiGlobalOptimizer,
                         testing::Values(Shape{1, 1, 1, 0, {8, 0, 0, 0}},
                                         Shape{37, 11, 3, 200, {8, 5, 55, 3}},
                                         Shape{37, 11, 64, 127, {8, 5, 128, 3}},
                                         Shape{70, 40, 65, 255, {4, 9, 12, 0}},
                                         Shape{130, 25, 128, 60, {8, 9, 60, 30}},
                                         Shape{20, 9, 300, 255, {8, 100, kMaxPathCost - 255, 9}},
                                         Shape{90, 700, 130, 90, {8, 9, 120, 30}}));

TEST(SemiGlobalErrors, ThrowsOnWhatItsSourceAndItsSinkThrow) {
  class Failing : public CostSource {
    int max_cost() const override { return 9; }
    void fill(int y, int, int, std::uint8_t*, std::ptrdiff_t) const override {
      if (y == 20) throw std::runtime_error("no costs");
    }
  };
  const IntVolume costs = random_costs(300, 40, 5, 9);
  const StoredCosts good(costs, 9);
  const Failing bad;
  Image<std::uint8_t> guide(300, 40, 0);
  SemiGlobalProblem problem;
  problem.costs = &bad;
  problem.planes = 5;
  problem.guide = guide.view();
  EXPECT_THROW(semi_global(problem, [](int, const PathWinner*, const std::uint16_t*) {}), std::runtime_error);
  problem.costs = &good;
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

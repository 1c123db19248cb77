// A view's sweep from images to depths, against the textbook in double precision.

#include "methods/sweep/view_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "optimize/semi_global/semi_global.hpp"
#include "reference/semi_global_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/sweep_reference.hpp"

namespace recon {
namespace {

constexpr double kProblemNear = 1.0, kProblemFar = 4.0;  // of random_problem

struct ViewCase {
  const char* name;
  reference::ProblemShape shape;
  CostOptions options;
};

void PrintTo(const ViewCase& c, std::ostream* out) {
  *out << c.name;
}

class ViewSweepOracle : public testing::TestWithParam<ViewCase> {
 protected:
  /// The costs of a pixel on all planes.
  static std::vector<double> costs_of(const SweepProblem& problem, int x, int y) {
    std::vector<double> costs;
    for (int d = 0; d < problem.planes.count; ++d)
      costs.push_back(reference::sample_cost(
          problem, x, y,
          1 / reference::plane_inverse_depth(kProblemNear, kProblemFar, problem.planes.count, d)));
    return costs;
  }

  /// Compares a sweep with `expected(x, y)`. Costs are halves of 11 bits, and about one sample in a thousand
  /// is taken from the adjacent 1/256 pixel: where two planes are as good as each other another one may win,
  /// and where the parabola is flat its minimum moves.
  /// @param cost_step  largest difference of costs
  /// @param share      of the pixels that may differ by more than that, or by 1/20 of a plane
  template <class Expected>
  static void compare(const SweepProblem& problem, const Expected& expected, double cost_step, double share) {
    const DepthEstimate found = sweep_view(problem);
    const double plane_step = (1 / kProblemNear - 1 / kProblemFar) / (problem.planes.count - 1);
    int known = 0, other_visibility = 0, other_plane = 0, other_confidence = 0, other_cost = 0;
    for (int y = 0; y < found.depth.height(); ++y)
      for (int x = 0; x < found.depth.width(); ++x) {
        const reference::TextbookWinner winner = expected(x, y);
        const double depth = found.depth(x, y);
        if (winner.plane < 0 || std::isnan(depth)) {
          other_visibility += (winner.plane < 0) != std::isnan(depth);
          continue;
        }
        ++known;
        other_plane += std::abs(1 / depth - 1 / winner.depth) > 0.05 * plane_step;
        other_cost += std::abs(static_cast<double>(found.cost(x, y)) - winner.cost) >
                      std::max(cost_step, winner.cost / 1024);
        other_confidence += std::abs(static_cast<double>(found.confidence(x, y)) - winner.confidence) > 0.02;
      }
    const int pixels = found.depth.width() * found.depth.height();
    EXPECT_GT(known, pixels / 3) << "the case compares little";
    EXPECT_LE(other_visibility, pixels / 100);
    EXPECT_LE(other_plane, share * known) << "of " << known;
    EXPECT_LE(other_cost, share * known) << "of " << known;
    EXPECT_LE(other_confidence, share * known) << "of " << known;
  }
};

TEST_P(ViewSweepOracle, WinnersEqualTheTextbook) {
  const reference::OwnedProblem owned = reference::random_problem(GetParam().shape, GetParam().options);
  compare(
      owned.problem,
      [&](int x, int y) {
        return reference::textbook_winner(costs_of(owned.problem, x, y), kProblemNear, kProblemFar);
      },
      1e-3, 0.01);
}

/// The same costs, quantized to 126 steps below their cap, with a textbook's paths over them.
TEST_P(ViewSweepOracle, PathsEqualTheTextbook) {
  reference::OwnedProblem owned = reference::random_problem(GetParam().shape, GetParam().options);
  SweepProblem& problem = owned.problem;
  problem.optimizer = Optimizer::kSemiGlobal;
  const int width = GetParam().shape.width, height = GetParam().shape.height, planes = problem.planes.count;
  const double cap = problem.cost.kind == CostKind::kZncc ? 1.0 : 40.0;
  reference::IntVolume costs(width, height, planes);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const std::vector<double> exact = costs_of(problem, x, y);
      for (int d = 0; d < planes; ++d) {
        const double cost = exact[static_cast<std::size_t>(d)];
        costs(x, y, d) =
            std::isinf(cost) ? 127 : static_cast<int>(std::lround(std::min(cost, cap) / cap * 126));
      }
    }
  const reference::IntVolume sums =
      reference::summed_path_costs(costs, problem.reference.channel[0], problem.semi_global);
  const auto expected = [&](int x, int y) {
    std::vector<double> sum;
    for (int d = 0; d < planes; ++d) sum.push_back(sums(x, y, d));
    reference::TextbookWinner winner = reference::textbook_winner(sum, kProblemNear, kProblemFar);
    const int cost = costs(x, y, winner.plane);
    if (cost == 127) winner.plane = -1;
    winner.cost = cost * cap / 126;
    return winner;
  };
  compare(problem, expected, 1.01 * cap / 126, 0.05);  // a rounding may go the other way
}

INSTANTIATE_TEST_SUITE_P(Cases, ViewSweepOracle,
                         testing::Values(ViewCase{"zncc_best_2", {41, 23, 37, 29, 3, 19, 1, 6, 2}, {}},
                                         ViewCase{"zncc_mean_7",
                                                  {33, 21, 37, 29, 2, 12, 1, 20, 5},
                                                  {CostKind::kZncc, 7, Combination::kMean, 1}},
                                         ViewCase{"sad_min",
                                                  {31, 17, 37, 23, 2, 33, 1, 4, 3},
                                                  {CostKind::kSad, 5, Combination::kMinimum, 1}},
                                         ViewCase{"sad_colour_best_2",
                                                  {29, 19, 31, 23, 3, 16, 3, 8, 4},
                                                  {CostKind::kSad, 3, Combination::kBestK, 2}}),
                         [](const auto& one) { return std::string(one.param.name); });

/// Paths over stored costs take the costs and what semi_global takes without a copy of them.
TEST(ViewSweepMemory, CountsStoredCostsOnce) {
  SweepShape shape;
  shape.width = shape.source_width = 640;
  shape.height = shape.source_height = 480;
  shape.sources = 8;
  shape.planes = 256;
  shape.optimizer = Optimizer::kSemiGlobal;
  const std::size_t images = 8 * SampledImage::bytes(640, 480), results = std::size_t{640} * 480 * 12;
  const std::size_t paths = counted_bytes(2, [&] { sweep_view(sized_problem(shape)); }) - images - results;
  const std::size_t costs = std::size_t{640} * 480 * 256;
  const auto optimizer = [&](bool stored) {
    const std::uint8_t cost = 0;
    SemiGlobalProblem problem;
    problem.planes = 256;
    problem.max_cost = 127;
    problem.guide = sized_view<std::uint8_t>(640, 480);
    problem.options = shape.semi_global;
    problem.stored_costs = stored ? &cost : nullptr;
    return counted_bytes(2, [&] { semi_global(problem, {}); });
  };
  EXPECT_GE(paths, costs + optimizer(true));
  EXPECT_LE(paths, costs + optimizer(true) + (std::size_t{64} << 10)) << "and a table of quantized costs";
  EXPECT_GT(optimizer(false), optimizer(true) + std::size_t{640} * 256 * 16) << "rows of computed costs";
}

}  // namespace
}  // namespace recon

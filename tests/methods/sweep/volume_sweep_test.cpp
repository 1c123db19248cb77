// Sweeps whose costs are stored: against the sweeps that store nothing, and against textbook stages over the
// textbook's volume.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "reference/aggregation_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "steps/path_sweep.hpp"

namespace recon {
namespace {

constexpr int kWidth = 41, kHeight = 23, kPlanes = 19;

reference::OwnedProblem small_problem() {
  return reference::random_problem({kWidth, kHeight, 37, 23, 3, kPlanes, 1, 6, 2}, {});
}

bool same(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

void expect_same(const DepthEstimate& a, const DepthEstimate& b) {
  for (int y = 0; y < a.depth.height(); ++y)
    for (int x = 0; x < a.depth.width(); ++x) {
      ASSERT_TRUE(same(a.depth(x, y), b.depth(x, y))) << x << " " << y;
      ASSERT_TRUE(same(a.cost(x, y), b.cost(x, y))) << x << " " << y;
      ASSERT_TRUE(same(a.confidence(x, y), b.confidence(x, y))) << x << " " << y;
    }
}

Volume<float> textbook_costs(const SweepProblem& problem) {
  const Volume<Half> halves = steps::sweep_volume(problem);
  Volume<float> costs(halves.width(), halves.planes(), halves.height());
  for (int y = 0; y < costs.height(); ++y)
    for (int d = 0; d < costs.planes(); ++d)
      for (int x = 0; x < costs.width(); ++x) costs.view()(x, y, d) = to_float(halves.view()(x, y, d));
  return costs;
}

/// An aggregation of no iterations needs a volume and changes nothing.
TEST(VolumeSweep, DoesNotDependOnHowCostsAreStored) {
  reference::OwnedProblem owned = small_problem();
  SweepProblem& problem = owned.problem;
  for (const Optimizer optimizer : {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal}) {
    problem.optimizer = optimizer;
    problem.aggregation = {};
    ASSERT_NE(cost_storage(problem), CostStorage::kFloats);
    const DepthEstimate expected = sweep_view(problem);
    problem.aggregation.kind = Aggregation::kCrossBased;
    problem.aggregation.cross_based.iterations = 0;
    ASSERT_EQ(cost_storage(problem), CostStorage::kFloats);
    expect_same(sweep_view(problem), expected);
  }
}

/// What the exact sums of the aggregation count on: the sources see the reference's negative from its place.
TEST(VolumeSweep, CostsAreWithinTheirMax) {
  for (const CostKind kind : {CostKind::kZncc, CostKind::kSad})
    for (const Combination combination : {Combination::kMinimum, Combination::kMean, Combination::kBestK}) {
      reference::OwnedProblem owned = reference::random_problem(
          {kWidth, kHeight, kWidth, kHeight, 3, kPlanes, 1, 0, 2}, {kind, 5, combination});
      for (std::size_t i = 0; i < owned.images.size(); ++i)
        for (int y = 0; y < kHeight; ++y)
          for (int x = 0; x < kWidth; ++x)
            owned.images[i](x, y) = (x / 2 % 2 == 0) == (i == 0) ? std::uint8_t{255} : std::uint8_t{0};
      for (PosedImage& source : owned.problem.sources) {
        source.camera = owned.problem.reference.camera;
        source.cam_from_world = owned.problem.reference.cam_from_world;
      }
      const DepthEstimate estimate = sweep_view(owned.problem);
      float most = 0;
      for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x) {
          if (std::isnan(estimate.depth(x, y))) continue;
          ASSERT_GE(estimate.cost(x, y), 0.0f) << x << " " << y;
          ASSERT_LE(estimate.cost(x, y), max_cost(CostOptions{kind})) << x << " " << y;
          most = std::max(most, estimate.cost(x, y));
        }
      EXPECT_GT(most, 0.99f * max_cost(CostOptions{kind})) << "the case is too tame";
    }
}

TEST(VolumeSweep, AggregatesLikeTheTextbook) {
  reference::OwnedProblem owned = small_problem();
  SweepProblem& problem = owned.problem;
  AggregationOptions& by = problem.aggregation;
  by.constant_radius = 2;
  by.adaptive_weight.radius = 3;
  const Volume<float> given = textbook_costs(problem);
  Image<Rgb8> grey(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const std::uint8_t g = problem.reference.channel[0](x, y);
      grey(x, y) = {g, g, g};
    }
  const reference::ColourViews view{grey.view(), {}, -1, 0};
  const auto compare = [&](Aggregation kind, const Volume<float>& expected) {
    by.kind = kind;
    const DepthEstimate estimate = sweep_view(problem);
    int known = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        float least = std::numeric_limits<float>::infinity();
        for (int d = 0; d < kPlanes; ++d) least = std::min(least, expected.view()(x, y, d));
        ASSERT_EQ(std::isinf(least), std::isnan(estimate.depth(x, y))) << x << " " << y;
        if (std::isinf(least)) continue;
        ++known;
        ASSERT_NEAR(estimate.cost(x, y), least, 1e-4f) << static_cast<int>(kind) << " " << x << " " << y;
      }
    EXPECT_GT(known, kWidth * kHeight / 3) << "the case compares nothing";
  };
  compare(Aggregation::kConstantWindow, reference::constant_window(given.view(), 2));
  compare(
      Aggregation::kAdaptiveWeight,
      reference::adaptive_weight(view, given.view(), 3, static_cast<double>(by.adaptive_weight.gamma_colour),
                                 static_cast<double>(by.adaptive_weight.gamma_space)));
  const CrossOptions& rule = by.cross;
  compare(Aggregation::kCrossBased,
          reference::cross_based(view, given.view(),
                                 {rule.reach, rule.near_reach, rule.colour, rule.strict_colour},
                                 by.cross_based.iterations));
}

/// X. Mei et al. 2011, section 3.4, as described there, with planes for disparities.
TEST(VolumeSweep, MovesEdgesToWhereTheCostsAreLess) {
  reference::OwnedProblem owned = small_problem();
  SweepProblem& problem = owned.problem;
  problem.optimizer = Optimizer::kSemiGlobal;  // winners are the least already
  const Volume<float> costs = textbook_costs(problem);
  const DepthEstimate before = sweep_view(problem);
  problem.refine.label_edges = true;
  EXPECT_TRUE(needs_volume(problem));
  const DepthEstimate after = make_cpu_backend({})->sweep(problem);
  const auto plane = [&](int x, int y) {
    return (1.0 / static_cast<double>(before.depth(x, y)) - static_cast<double>(problem.planes.inverse_far)) /
           static_cast<double>(problem.planes.step);
  };
  constexpr int kBeside[][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  // Halfway between two planes a rounding decides which one it is.
  const auto halfway = [&](int x, int y) {
    if (x < 0 || y < 0 || x >= kWidth || y >= kHeight || std::isnan(before.depth(x, y))) return false;
    return std::abs(std::abs(plane(x, y) - std::round(plane(x, y))) - 0.5) < 1e-3;
  };
  int moved = 0, skipped = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      bool skip = halfway(x, y);
      for (const auto& step : kBeside) skip = skip || halfway(x + step[0], y + step[1]);
      if (skip) {
        ++skipped;
        continue;
      }
      float depth = before.depth(x, y), least = before.cost(x, y);
      if (!std::isnan(depth)) {
        const auto cost = [&](double p) { return costs.view()(x, y, static_cast<int>(std::lround(p))); };
        float lowest = cost(plane(x, y));
        for (const auto& step : kBeside) {
          const int i = x + step[0], j = y + step[1];
          if (i < 0 || j < 0 || i >= kWidth || j >= kHeight || std::isnan(before.depth(i, j))) continue;
          if (std::abs(plane(i, j) - plane(x, y)) > 1.0 && cost(plane(i, j)) < lowest)
            lowest = least = cost(plane(i, j)), depth = before.depth(i, j);
        }
        moved += depth != before.depth(x, y);
      }
      ASSERT_TRUE(same(after.depth(x, y), depth)) << x << " " << y;
      ASSERT_TRUE(same(after.cost(x, y), least)) << x << " " << y;
      ASSERT_TRUE(same(after.confidence(x, y), before.confidence(x, y))) << x << " " << y;
    }
  EXPECT_GT(moved, 10) << "the case moves little";
  EXPECT_LT(skipped, kWidth * kHeight / 5);
}

TEST(VolumeSweep, CutsFromTheWinnersOn) {
  reference::OwnedProblem owned = small_problem();
  SweepProblem& problem = owned.problem;
  const float cap = cost_cap(problem.cost.kind);
  Volume<float> costs = textbook_costs(problem);
  Image<std::uint16_t> labels(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      WinnerScan scan;
      scan.clear();
      for (int d = 0; d < kPlanes; ++d) scan.push(costs.view()(x, y, d));
      labels(x, y) = scan.winner.plane < 0 ? kNoLabel : static_cast<std::uint16_t>(scan.winner.plane);
      for (int d = 0; d < kPlanes; ++d)
        if (!std::isinf(costs.view()(x, y, d))) costs.view()(x, y, d) = std::min(costs.view()(x, y, d), cap);
    }
  GraphCutOptions options;
  options.smoothness *= cap / 126;
  const Image<std::uint16_t> winners = labels.clone();
  graph_cut(costs.view(), problem.reference.channel[0], options, labels.view());
  problem.optimizer = Optimizer::kGraphCut;
  const DepthEstimate estimate = sweep_view(problem);
  int moved = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const int label = labels(x, y);
      moved += label != winners(x, y);
      if (label == kNoLabel) {
        ASSERT_TRUE(std::isnan(estimate.depth(x, y)));
        continue;
      }
      ASSERT_EQ(estimate.cost(x, y), costs.view()(x, y, label)) << x << " " << y;
      const float half_plane = 0.5f * problem.planes.step * (1 + 1e-4f);
      ASSERT_NEAR(1 / estimate.depth(x, y), inverse_depth(problem.planes, static_cast<float>(label)),
                  half_plane);
      ASSERT_GE(estimate.confidence(x, y), 0.0f);
      ASSERT_LE(estimate.confidence(x, y), 1.0f);
    }
  EXPECT_GT(moved, 0) << "the case cuts nothing";
  problem.optimizer = Optimizer::kWinnerTakeAll;
  problem.refine.graph_cut = true;
  expect_same(sweep_view(problem), estimate);
}

TEST(VolumeSweep, TheSameOnAnyNumberOfThreads) {
  reference::OwnedProblem owned = small_problem();
  owned.problem.aggregation.kind = Aggregation::kCrossBased;
  owned.problem.refine.graph_cut = true;
  for (const Optimizer optimizer : {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal}) {
    owned.problem.optimizer = optimizer;
    expect_same(ThreadLimit(1).run([&] { return sweep_view(owned.problem); }),
                ThreadLimit(3).run([&] { return sweep_view(owned.problem); }));
  }
}

TEST(VolumeSweep, BlocksAreSweptByThemselves) {
  reference::OwnedProblem owned = reference::random_problem({150, 90, 160, 100, 2, 12, 1, 3, 8}, {});
  owned.problem.aggregation.kind = Aggregation::kConstantWindow;
  const std::size_t whole = owned.problem.block_bytes;
  owned.problem.block_bytes = std::size_t{4} * 100 * 80 * 64;
  const auto blocks = sweep_blocks(150, 90, 12, owned.problem.block_bytes / 4);
  ASSERT_GT(blocks.size(), 2u);
  const DepthEstimate estimate = sweep_view(owned.problem);
  for (const SweepBlock& block : blocks) {
    SweepProblem part = owned.problem;
    part.reference = cropped(owned.problem.reference, block.outer);
    part.block_bytes = whole;
    const DepthEstimate expected = sweep_view(part);
    for (int y = block.inner.y; y < block.inner.y + block.inner.height; ++y)
      for (int x = block.inner.x; x < block.inner.x + block.inner.width; ++x) {
        const int i = x - block.outer.x, j = y - block.outer.y;
        ASSERT_TRUE(same(estimate.depth(x, y), expected.depth(i, j))) << x << " " << y;
        ASSERT_TRUE(same(estimate.cost(x, y), expected.cost(i, j))) << x << " " << y;
      }
  }
}

/// A device leaves the stages from the optimizer on to the host, with costs that are aggregated already.
TEST(VolumeSweep, TheHostGoesOnFromTheOptimizer) {
  reference::OwnedProblem owned = small_problem();
  SweepProblem& problem = owned.problem;
  const Tile whole{0, 0, kWidth, kHeight};
  for (const Optimizer optimizer :
       {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal, Optimizer::kGraphCut}) {
    problem.optimizer = optimizer;
    problem.refine.graph_cut = problem.refine.label_edges = true;
    problem.aggregation.kind = Aggregation::kNone;
    const DepthEstimate expected = sweep_view(problem);
    problem.aggregation.kind = Aggregation::kConstantWindow;  // not done again
    DepthEstimate found;
    optimize_block(problem, {whole, whole}, textbook_costs(problem), found);
    expect_same(found, expected);
  }
}

TEST(VolumeSweep, APartOfAnImageDoesNotHaveItsId) {
  reference::OwnedProblem owned = reference::random_problem({15, 9, 16, 10, 1, 3, 1, 3, 8}, {});
  owned.problem.reference.id = 7;
  EXPECT_EQ(cropped(owned.problem.reference, {1, 1, 5, 5}).id, 0u);
}

TEST(VolumeSweep, TheBackendDoesItAndCountsItsMemory) {
  reference::OwnedProblem owned = small_problem();
  SweepProblem& problem = owned.problem;
  const auto cpu = make_cpu_backend({});
  SweepShape shape{{}, 600, 400, 600, 400, 1, 4, 64};
  const std::size_t images = 4 * SampledImage::bytes(600, 400), results = std::size_t{600} * 400 * 12;
  EXPECT_GT(cpu->memory(shape).host_bytes, images + results);
  shape.aggregation.kind = problem.aggregation.kind = Aggregation::kConstantWindow;
  EXPECT_GT(cpu->memory(shape).host_bytes, images + results + 2 * Volume<float>::bytes(600, 64, 400));
  expect_same(cpu->sweep(problem), sweep_view(problem));
  shape.width = shape.height = 6000;
  EXPECT_LT(cpu->memory(shape).host_bytes, std::size_t{2} << 30) << "large views are done in blocks";
}

}  // namespace
}  // namespace recon

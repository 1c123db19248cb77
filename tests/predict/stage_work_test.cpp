#include <gtest/gtest.h>

#include "methods/sweep/plane_sweep.hpp"
#include "optimize/belief/belief_tiling.hpp"
#include "optimize/semi_global/path_pass.hpp"
#include "predict/performance_model.hpp"

namespace recon {
namespace {

/// Calls, pixels, operations, bytes and patches.
using Terms = std::array<double, StageWork::kTerms>;

Terms terms(const SweepShape& shape, int threads) {
  return sweep_task(shape, threads).work.terms();
}
Terms terms(int width, int height, const PairSpec& options, int threads) {
  return pair_task(width, height, options, threads).work.terms();
}
double operations(int width, int height, const PairSpec& options, int threads) {
  return pair_task(width, height, options, threads).work.operations;
}

SweepShape small_shape(int width = 20, Optimizer optimizer = Optimizer::kWinnerTakeAll) {
  SweepShape shape;
  shape.width = width, shape.height = 10;
  shape.source_width = 30, shape.source_height = 8;
  shape.sources = 3;
  shape.planes = 5;
  shape.cost.window = 7;
  shape.optimizer = optimizer;
  return shape;
}

PairSpec method_of(MethodSpec (*preset)(), int planes) {
  return {preset(), {0, planes}};
}

/// A pipeline of an aggregation and the winner. Winners read the costs once: 8 bytes a sample.
PairSpec aggregating(Aggregation kind, int planes, int radius = 1) {
  PairSpec options = method_of(presets::plain_pipeline, planes);
  options.optimizer = Optimizer::kWinnerTakeAll;
  AggregationOptions& by = options.aggregation;
  by.kind = kind;
  by.constant_radius = by.adaptive_weight.radius = radius;
  by.cross_based.iterations = 3;
  return options;
}

TEST(SharedWork, IsThatOfTheLastThreadTimesAll) {
  EXPECT_EQ(shared_work({3, 1, 2}, 1), 6);
  EXPECT_EQ(shared_work({3, 1, 2}, 2), 2 * 3);     // 3 | 1 + 2
  EXPECT_EQ(shared_work({1, 1, 1, 4}, 2), 2 * 5);  // 1 + 1 | 1, then 4 beside the second one
  EXPECT_EQ(shared_work({3, 1, 2}, 8), 8 * 3);
  EXPECT_EQ(shared_work({}, 4), 0);
  EXPECT_EQ(shared_evenly(12, 4, 1), 12);  // equal parts go in rounds
  EXPECT_EQ(shared_evenly(12, 4, 2), 12);
  EXPECT_EQ(shared_evenly(12, 4, 3), 18);
  EXPECT_EQ(shared_evenly(12, 1, 16), 192);
}

TEST(WavefrontWork, ABandWaitsUntilTheOneAboveIsAhead) {
  EXPECT_EQ(wavefront_work(10, 100, {1, 4, 32}, 1), 40);
  EXPECT_EQ(wavefront_work(10, 100, {1, 4, 32}, 16), 16 * 40);  // 15 threads have no piece
  // Bands of one row of 10 pieces: the second begins when the first has done two.
  EXPECT_EQ(wavefront_work(2, 320, {2, 1, 32}, 2), 2 * 12);
  // The third and the fourth follow without waiting.
  EXPECT_EQ(wavefront_work(4, 320, {2, 1, 32}, 2), 2 * 22);
  // Of a band of two rows the last row has two pieces when 1 + 2 + 2 are done.
  EXPECT_EQ(wavefront_work(4, 320, {2, 2, 32}, 2), 2 * 25);
  // A single piece: the next begins when the one above is done.
  EXPECT_EQ(wavefront_work(3, 20, {2, 1, 32}, 2), 2 * 3);
}

TEST(SweepTask, ByHand) {
  const double pixels = 20 * 10 + 3 * 30 * 8, bytes = 4 * 20 * 10 * 5;
  // One tile of 20 x 10 with its halo of 3 on each side: 26 x 16 samples, of 3 sources on 5 planes.
  const double samples = 26 * 16 * 15;
  EXPECT_EQ(terms(small_shape(), 1), (Terms{1, pixels, samples, bytes}));
  EXPECT_EQ(sweep_task(small_shape(), 1).radius, 3);
  // Three threads: two of them wait for half of the only tile. A GPU has no tiles.
  EXPECT_EQ(terms(small_shape(), 3), (Terms{1, pixels, 2 * samples, bytes}));
  EXPECT_EQ(terms(small_shape(), 0), (Terms{1, pixels, 20 * 10 * 15, bytes}));
  // Paths add their codes and sums; blocks their margins.
  SweepShape paths = small_shape(20, Optimizer::kSemiGlobal);
  EXPECT_EQ(terms(paths, 1), (Terms{1, pixels, samples, bytes + 7 * 20 * 10 * 64}));
  paths.planes = 300;  // in vectors of 64
  EXPECT_EQ(terms(paths, 1)[3], 4 * 20 * 10 * 300 + 7 * 20 * 10 * 320);
  paths.planes = 5;
  paths.width = 200;
  paths.block_bytes = 150 * 10 * 64;
  ASSERT_EQ(blocks_of(paths).size(), 2u);
  const double in_blocks = 2 * (100 + 32) * 10;
  EXPECT_EQ(terms(paths, 0),
            (Terms{1, 200 * 10 + 3 * 30 * 8, in_blocks * 15, 4 * in_blocks * 5 + 7 * in_blocks * 64}));
}

TEST(SweepTask, PatchesCountWhatThePassesCompare) {
  // Inside an image where all costs are equal no plane is taken, so that every one is compared.
  std::vector<PatchState> pixels(64 * 64, PatchState{{1, 0, 0}, 1});
  const PatchStates states{pixels.data(), 64, 64, 64};
  int improving = 0, refining = 0;
  const auto counting = [](int& count) {
    return [&count](const SlantedPlane&, float) { return ++count, 1.0f; };
  };
  improved(states, 32, 32, patch_iteration({0.1f, 10}, {}), 0.01f, counting(improving));
  finer_state(states, 32, 32, {0.1f, 10}, counting(refining));
  // Three times all sources are rated, and the best of them the own plane; then other planes in the best.
  const auto patches = [&](int sources, int best) {
    const int both = 3 * (sources + best + best * improving);
    return 9 * (10 * 5 * both + 20 * 10 * (both + best * refining));
  };
  EXPECT_EQ(patches(3, 2), 9 * (50 * 87 + 200 * 95));
  SweepShape shape = small_shape();  // and 10 x 5 pixels, patches of 3 x 3 samples, the best two sources
  set_patches(shape, true);
  shape.patch_match = {1, 1, 2, 3};
  for (const int threads : {0, 1, 3})
    for (const int planes : {5, 300})
      for (const int sources : {1, 3, 20}) {
        shape.sources = sources;
        shape.planes = planes;
        const StageTask task = sweep_task(shape, threads), half = sweep_task(coarsest_shape(shape), threads);
        const double compared = patches(sources, std::min(sources, 2));
        EXPECT_EQ(task.work.terms(), (Terms{1, 0, half.work.operations, half.work.bytes, compared}));
        EXPECT_EQ(half.work.patches, 0);
        EXPECT_NE(task.stage, half.stage);
        SweepShape edges = shape;
        edges.refine.patch_edges = true;
        // Circles of radius 8 and 4 on a grid (Gauss).
        EXPECT_EQ(sweep_task(edges, threads).work.patches, compared + 20 * 10 * (197 + 49));
      }
}

TEST(SweepTask, OptionsOfOtherCostsAreOtherStages) {
  SweepShape best = small_shape(), sad = best, crosses = best, window = best;
  best.cost.best_k = 3;
  sad.cost.kind = CostKind::kSad;
  crosses.aggregation.kind = Aggregation::kCrossBased;
  window.cost.window = 9;  // predicted between other windows
  const std::string zncc = sweep_task(small_shape(), 0).stage;
  for (const SweepShape& other : {best, sad, crosses}) EXPECT_NE(sweep_task(other, 0).stage, zncc);
  EXPECT_EQ(sweep_task(window, 0).stage, zncc);
}

TEST(PairTask, AggregationsByHand) {
  const auto weights = [](int radius) { return aggregating(Aggregation::kAdaptiveWeight, 5, radius); };
  // On a line of 3 pixels windows of radius 1 hold 2 + 3 + 2 pixels, on one of 2 pixels 2 + 2.
  EXPECT_EQ(terms(3, 2, weights(1), 0), (Terms{1, 24, 5 * 7 * 4, 8 * 6 * 5 + 8 * 7 * 4}));
  EXPECT_EQ(terms(3, 2, weights(50), 0), (Terms{1, 24, 5 * 6 * 6, 8 * 6 * 5 + 8 * 6 * 6}));
  // A CPU takes rows of 16 pixels, and three neighbours and a sum to each of them; three threads take
  // four rows in two rounds, as if they were six.
  EXPECT_EQ(terms(17, 2, weights(1), 1), (Terms{1, 136, 5 * 32 * 4 * 4, 8 * 34 * 5 + 8 * 32 * 3 * 4}));
  EXPECT_EQ(terms(16, 4, weights(1), 3), (Terms{1, 256, 5 * 16 * 4 * 15, 8 * 64 * 5 + 8 * 16 * 3 * 15}));
  EXPECT_EQ(terms(3, 2, weights(50), 1)[2], 5 * 16 * (101 + 1) * 4);
  constexpr double kSamples = 8 * 30 * 20;
  for (const int radius : {4, 99})  // which running sums do not depend on
    EXPECT_EQ(terms(30, 20, aggregating(Aggregation::kConstantWindow, 8, radius), 1),
              (Terms{1, 1200, kSamples, (8 + 16) * kSamples}));
  // Five threads take the eight planes of crosses in two rounds, as if they were ten.
  const PairSpec crosses = aggregating(Aggregation::kCrossBased, 8);
  EXPECT_EQ(terms(30, 20, crosses, 1), (Terms{1, 2400, 3 * 2 * kSamples, (8 + 3 * 16) * kSamples}));
  EXPECT_EQ(terms(30, 20, crosses, 5), (Terms{1, 2400, 3 * 2 * 30 * 20 * 10, (8 + 3 * 16) * kSamples}));
}

TEST(PairTask, MethodsByHand) {
  // One piece of 32 columns in each of 4 rows, gone over twice, with two vectors of 64 planes.
  const PairSpec sgm = method_of(presets::semi_global, 70);
  EXPECT_EQ(terms(10, 4, sgm, 1), (Terms{1, 80, 2 * 4 * 32 * 128, 0}));
  for (const auto& [planes, lanes] : {std::pair{1, 64}, {64, 64}, {65, 128}, {70, 128}, {300, 512}})
    EXPECT_EQ(terms(10, 4, method_of(presets::semi_global, planes), 0),
              (Terms{1, 80, 0, 7.0 * 10 * 4 * lanes}));
  PairSpec bp = method_of(presets::belief_propagation, 70);
  bp.belief.levels = 3;
  bp.belief.iterations = 2;
  const double messages = 4 * 2 * 70 * (40 + 10 + 3);  // on 10 x 4, 5 x 2 and 3 x 1 pixels
  EXPECT_EQ(terms(10, 4, bp, 1), (Terms{1, 80, messages, 70 * messages}));
  EXPECT_EQ(terms(10, 4, bp, 0), (Terms{1, 80, messages, 70 * 40 * 2}));
}

TEST(PairTask, BlockMatchingByHand) {
  PairSpec bm = method_of(presets::block_matching, 70);
  EXPECT_EQ(terms(10, 4, bm, 0), (Terms{1, 80, 10 * 4 * 128, 0}));
  bm.block.steps_per_pixel = 2;
  EXPECT_EQ(operations(10, 4, bm, 1), 10 * 4 * 96 * 2);  // vectors of 32
  bm.block.pyramid_levels = 2;
  EXPECT_EQ(operations(10, 4, bm, 1), 2 * (10 * 4 * 96 + 10 * 64));
  bm.block.cost = BlockCost::kSsd;  // of 16
  EXPECT_EQ(operations(10, 4, bm, 1), 2 * (10 * 4 * 80 + 10 * 48));
  // A GPU searches many disparities in another way.
  const PairSpec packed = method_of(presets::block_matching, 512),
                 many = method_of(presets::block_matching, 513);
  EXPECT_NE(pair_task(10, 4, many, 0).stage, pair_task(10, 4, packed, 0).stage);
  EXPECT_EQ(pair_task(10, 4, many, 1).stage, pair_task(10, 4, packed, 1).stage);
  EXPECT_EQ(operations(10, 4, many, 0), 10 * 4 * 513);
}

TEST(PairTask, PathsAndMessagesOfThreadsThatWait) {
  // Blocks of rows but the first are gone over three times.
  const PathBlocks plan(640, 480, 512, 2, 1);
  ASSERT_GT(plan.blocks, 1);
  EXPECT_EQ(operations(640, 480, method_of(presets::semi_global, 512), 1),
            512.0 * 640 * (2.0 * plan.rows + 3.0 * (480 - plan.rows)));
  // 10 pieces in a row are enough for 3 workers; 16 threads wait for them.
  const PairSpec sgm = method_of(presets::semi_global, 64);
  const double paths = operations(320, 240, sgm, 16) / operations(320, 240, sgm, 1);
  EXPECT_GT(paths, 16 / 3.0);
  EXPECT_LT(paths, 1.2 * 16 / 3.0);
  // The only iteration needs one column more on each inner side of a tile.
  PairSpec bp = method_of(presets::belief_propagation, 256);
  bp.belief.levels = bp.belief.iterations = 1;
  const BeliefTiling tiling(belief_pyramid({2000, 8, 256}, bp.belief).levels[0], 1, 2, 1);
  ASSERT_EQ(tiling.rows, 1);
  ASSERT_GT(tiling.columns, 1);
  EXPECT_EQ(operations(2000, 8, bp, 1), 256.0 * 4 * 8 * (2000 + 2 * (tiling.columns - 1)));
  // The finest level has 4 tiles at most, and all others but the second one.
  bp = method_of(presets::belief_propagation, 48);
  const double messages = operations(400, 300, bp, 16) / operations(400, 300, bp, 1);
  EXPECT_GT(messages, 4);
  EXPECT_LT(messages, 16);
}

void expect_at_least(const StageTask& larger, const StageTask& smaller) {
  for (std::size_t i = 0; i < StageWork::kTerms; ++i)
    EXPECT_GE(larger.work.terms()[i], smaller.work.terms()[i]) << larger.stage << ", term " << i;
}

TEST(StageWork, DoesNotFallAsASizeGrows) {
  for (const auto optimizer : {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal})
    for (const int threads : {0, 1, 16})
      for (const int width : {33, 200, 700}) {
        SweepShape shape = small_shape(width, optimizer);
        shape.height = width;
        const StageTask task = sweep_task(shape, threads);
        for (int SweepShape::*size : {&SweepShape::width, &SweepShape::height, &SweepShape::planes,
                                      &SweepShape::sources, &SweepShape::source_width}) {
          SweepShape larger = shape;
          larger.*size += 1;
          expect_at_least(sweep_task(larger, threads), task);
        }
        shape.cost.window += 2;
        if (threads == 0) expect_at_least(sweep_task(shape, threads), task);
      }
  for (const auto preset :
       {presets::block_matching, presets::semi_global, presets::belief_propagation, presets::plain_pipeline})
    for (const int width : {1, 5, 64, 333}) {
      const PairSpec options = method_of(preset, width), more = method_of(preset, width + 1);
      const StageTask task = pair_task(width, 2 * width, options, 1);
      expect_at_least(pair_task(width + 1, 2 * width, options, 1), task);
      expect_at_least(pair_task(width, 2 * width + 1, options, 1), task);
      expect_at_least(pair_task(width, 2 * width, more, 1), task);
    }
}

}  // namespace
}  // namespace recon

#include "predict/stage_work.hpp"

#include <gtest/gtest.h>

#include "match/posed_image.hpp"
#include "methods/sweep/coarse_to_fine.hpp"
#include "methods/sweep/sweep_blocks.hpp"
#include "predict/stage_calibration.hpp"

namespace recon {
namespace {

SweepShape small_shape() {
  SweepShape shape;
  shape.width = 20;
  shape.height = 10;
  shape.source_width = 30;
  shape.source_height = 8;
  shape.sources = 3;
  shape.planes = 5;
  shape.options.window = 7;
  return shape;
}

TEST(StageWork, ASweepOfOneTileByHand) {
  const StageTask task = sweep_task(small_shape(), 0.75, 1);
  // One tile of 20 x 10 with its halo of 3 on each side: 26 x 16 samples, of 3 sources on 5 planes.
  EXPECT_DOUBLE_EQ(task.work.operations, 0.75 * 26 * 16 * 15);
  EXPECT_DOUBLE_EQ(task.work.hidden, 0.25 * 26 * 16 * 15);
  EXPECT_DOUBLE_EQ(task.work.bytes, 4 * 20 * 10 * 5);
  EXPECT_DOUBLE_EQ(task.work.pixels, 20 * 10 + 3 * 30 * 8);
  EXPECT_DOUBLE_EQ(task.work.calls, 1);
  EXPECT_EQ(task.radius, 3);
}

TEST(StageWork, ThreadsWaitForHalfATile) {
  // Three threads: two of them wait for half of the only tile.
  const StageTask task = sweep_task(small_shape(), 1, 3);
  EXPECT_DOUBLE_EQ(task.work.operations, 2 * 26 * 16 * 15);
}

TEST(StageWork, AGpuHasNoTiles) {
  EXPECT_DOUBLE_EQ(sweep_task(small_shape(), 1, 0).work.operations, 20 * 10 * 15);
}

TEST(StageWork, PathsAddTheirCodesAndSums) {
  SweepShape shape = small_shape();
  shape.optimizer = SweepOptimizer::kSemiGlobal;
  EXPECT_DOUBLE_EQ(sweep_task(shape, 1, 1).work.bytes, 4 * 20 * 10 * 5 + 7 * 20 * 10 * 64);
}

TEST(StageWork, BlocksCountTheirMargins) {
  SweepShape shape = small_shape();
  shape.width = 200;
  shape.optimizer = SweepOptimizer::kSemiGlobal;
  shape.paths.block_bytes = 150 * 10 * 64;
  const auto blocks = sweep_blocks(200, 10, 5, shape.paths.block_bytes);
  ASSERT_EQ(blocks.size(), 2u);
  const double pixels = 2 * (100 + 32) * 10;
  EXPECT_DOUBLE_EQ(sweep_task(shape, 1, 0).work.bytes, 4 * pixels * 5 + 7 * pixels * 64);
  EXPECT_DOUBLE_EQ(sweep_task(shape, 1, 0).work.operations, pixels * 15);
}

/// 20 x 10 pixels and 10 x 5, patches of 3 x 3 samples, the best two of three sources.
SweepShape shape_with_patches() {
  SweepShape shape = small_shape();
  shape.stages.patches = true;
  shape.stages.patch_match = {1, 1, 2, 3};
  return shape;
}

TEST(StageWork, PatchesCountWhatThePassesCompare) {
  // Inside an image where all costs are equal no plane is taken, so that every one is compared.
  std::vector<PatchState> pixels(64 * 64, PatchState{{1, 0, 0}, 1});
  const PatchStates states{pixels.data(), 64, 64, 64};
  int improving = 0, refining = 0;
  const auto counting = [](int& count) {
    return [&count](const SlantedPlane&, float) { return ++count, 1.0f; };
  };
  improved(states, 32, 32, {{0.1f, 10}, 2, 0}, 0.01f, counting(improving));
  finer_state(states, 32, 32, {0.1f, 10}, counting(refining));
  // Three times all three sources are rated, and two of them the own plane; then other planes in two.
  const int both = 3 * (3 + 2 + 2 * improving);
  EXPECT_DOUBLE_EQ(sweep_task(shape_with_patches(), 1, 1).work.patches,
                   9 * (10 * 5 * both + 20 * 10 * (both + 2 * refining)));
  EXPECT_DOUBLE_EQ(sweep_task(shape_with_patches(), 1, 0).work.patches, 9 * (50 * 87 + 200 * 95));
}

TEST(StageWork, PatchesOfOneSourceAreComparedWithItOnly) {
  SweepShape shape = shape_with_patches();
  shape.sources = 1;
  EXPECT_DOUBLE_EQ(sweep_task(shape, 1, 1).work.patches, 9 * (50 * 42 + 200 * 46));
}

TEST(StageWork, PatchesSweepTheCoarsestLevelOnly) {
  SweepShape shape = shape_with_patches();
  shape.sources = 20;
  for (const int threads : {0, 3})
    for (const int planes : {5, 300}) {
      shape.planes = planes;
      const StageTask task = sweep_task(shape, 0.5, threads),
                      coarse = sweep_task(coarsest_shape(shape), 0.5, threads);
      EXPECT_DOUBLE_EQ(task.work.operations, coarse.work.operations);
      EXPECT_DOUBLE_EQ(task.work.hidden, coarse.work.hidden);
      EXPECT_DOUBLE_EQ(task.work.bytes, coarse.work.bytes);
      EXPECT_DOUBLE_EQ(task.work.patches, 9 * (50 * 138 + 200 * 146)) << "for any number of planes";
      EXPECT_NE(task.stage, coarse.stage);
      EXPECT_EQ(coarse.work.patches, 0);
    }
}

/// A pipeline of an aggregation and the winner. Winners read the costs once: 8 bytes a sample.
PairOptions aggregating(Aggregation kind, int planes) {
  PairOptions options;
  options.method = PairMethod::kPipeline;
  options.range = {0, planes};
  options.pipeline.optimizer = PipelineOptimizer::kWinnerTakeAll;
  options.pipeline.aggregation.kind = kind;
  return options;
}

TEST(StageWork, AdaptiveWeightSumsClippedWindows) {
  PairOptions options = aggregating(Aggregation::kAdaptiveWeight, 5);
  options.pipeline.aggregation.adaptive_weight.radius = 1;
  // On a line of 3 pixels windows of radius 1 hold 2 + 3 + 2 pixels, on one of 2 pixels 2 + 2.
  const StageTask gpu = pair_task(3, 2, options, 0);
  EXPECT_DOUBLE_EQ(gpu.work.operations, 5 * 7 * 4);
  EXPECT_DOUBLE_EQ(gpu.work.bytes, 8 * 3 * 2 * 5 + 8 * 7 * 4);
  EXPECT_DOUBLE_EQ(gpu.work.pixels, 4 * 3 * 2);
  // A CPU takes rows of 16 pixels and three neighbours to each of them.
  const StageTask cpu = pair_task(17, 2, options, 1);
  EXPECT_DOUBLE_EQ(cpu.work.operations, 5 * 32 * 3 * 4);
  EXPECT_DOUBLE_EQ(cpu.work.hidden, 5 * 32 * 4);
  EXPECT_DOUBLE_EQ(cpu.work.bytes, 8 * 17 * 2 * 5 + 8 * 32 * 3 * 4);
  EXPECT_TRUE(cpu.counts_radius);
  // Of three rows two threads take two at most.
  EXPECT_DOUBLE_EQ(pair_task(16, 3, options, 2).work.hidden, 5 * 16 * 7 * 4 / 3.0);
  options.pipeline.aggregation.adaptive_weight.radius = 50;  // every window has all rows of the image
  EXPECT_DOUBLE_EQ(pair_task(3, 2, options, 0).work.operations, 5 * 6 * 6);
  EXPECT_DOUBLE_EQ(pair_task(3, 2, options, 1).work.hidden, 5 * 16 * 4);
}

TEST(StageWork, TheConstantWindowDoesNotGrowWithItsRadius) {
  PairOptions options = aggregating(Aggregation::kConstantWindow, 8);
  const StageTask narrow = pair_task(30, 20, options, 1);
  options.pipeline.aggregation.constant_radius = 99;
  EXPECT_DOUBLE_EQ(narrow.work.operations, 30 * 20 * 8);
  EXPECT_DOUBLE_EQ(narrow.work.bytes, (8 + 16) * 30 * 20 * 8);
  EXPECT_EQ(narrow.work.terms(), pair_task(30, 20, options, 1).work.terms());
}

TEST(StageWork, CrossesCountTheirIterations) {
  PairOptions options = aggregating(Aggregation::kCrossBased, 8);
  options.pipeline.aggregation.cross_based.iterations = 3;
  const StageTask task = pair_task(30, 20, options, 1);
  EXPECT_DOUBLE_EQ(task.work.operations, 3 * 2 * 30 * 20 * 8);
  EXPECT_DOUBLE_EQ(task.work.bytes, (8 + 3 * 16) * 30 * 20 * 8);
  // Five threads take the eight planes in two rounds, as if they were ten.
  EXPECT_DOUBLE_EQ(pair_task(30, 20, options, 5).work.operations, 3 * 2 * 30 * 20 * 10);
}

TEST(StageWork, PairsByHand) {
  PairOptions options;
  options.range = {0, 70};
  // One piece of 32 columns in each of 4 rows, gone over twice, with two vectors of 64 planes.
  const StageTask sgm = pair_task(10, 4, options, 1);
  EXPECT_DOUBLE_EQ(sgm.work.operations, 2 * 4 * 32 * 128);
  EXPECT_DOUBLE_EQ(sgm.work.bytes, 0);
  options.method = PairMethod::kBeliefPropagation;
  options.belief.levels = 3;
  options.belief.iterations = 2;
  // 10 x 4, 5 x 2 and 3 x 1 pixels.
  for (const int threads : {0, 1}) {
    const StageTask bp = pair_task(10, 4, options, threads);
    EXPECT_DOUBLE_EQ(bp.work.operations, 4 * 2 * 70 * (40 + 10 + 3));
    EXPECT_DOUBLE_EQ(bp.work.bytes, threads == 0 ? 70 * 40 * 2 : 70 * bp.work.operations);
  }
  options.method = PairMethod::kBlockMatching;
  options.block.steps_per_pixel = 2;
  EXPECT_DOUBLE_EQ(pair_task(10, 4, options, 1).work.operations, 10 * 4 * 96 * 2);  // vectors of 32
  options.block.pyramid_levels = 2;
  EXPECT_DOUBLE_EQ(pair_task(10, 4, options, 1).work.operations, 2 * (10 * 4 * 96 + 10 * 64));
  options.block.cost = BlockCost::kSsd;  // of 16
  EXPECT_DOUBLE_EQ(pair_task(10, 4, options, 1).work.operations, 2 * (10 * 4 * 80 + 10 * 48));
}

TEST(StageWork, AGpuSearchesManyDisparitiesInAnotherWay) {
  PairOptions options;
  options.method = PairMethod::kBlockMatching;
  options.range.count = 512;
  const std::string packed = pair_task(10, 4, options, 0).stage, on_cpu = pair_task(10, 4, options, 1).stage;
  options.range.count = 513;
  EXPECT_NE(pair_task(10, 4, options, 0).stage, packed);
  EXPECT_DOUBLE_EQ(pair_task(10, 4, options, 0).work.operations, 10 * 4 * 513);
  EXPECT_EQ(pair_task(10, 4, options, 1).stage, on_cpu);
}

TEST(StageWork, AGpuSearchesPowersOfTwo) {
  EXPECT_EQ(plane_lanes(1, 0), 64);
  EXPECT_EQ(plane_lanes(64, 0), 64);
  EXPECT_EQ(plane_lanes(65, 0), 128);
  EXPECT_EQ(plane_lanes(300, 0), 512);
  EXPECT_EQ(plane_lanes(300, 2), 320);
  PairOptions options;
  options.range = {0, 70};
  EXPECT_DOUBLE_EQ(pair_task(10, 4, options, 0).work.bytes, 7 * 10 * 4 * 128);
  EXPECT_DOUBLE_EQ(pair_task(10, 4, options, 0).work.operations, 0);
  options.method = PairMethod::kBlockMatching;
  EXPECT_DOUBLE_EQ(pair_task(10, 4, options, 0).work.operations, 10 * 4 * 128);
}

void expect_at_least(const StageTask& larger, const StageTask& smaller, const std::string& what) {
  const auto a = larger.work.terms(), b = smaller.work.terms();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_GE(a[i], b[i]) << what << ", term " << i;
}

TEST(StageWork, NoSweepCountFallsAsASizeGrows) {
  for (const auto optimizer : {SweepOptimizer::kWinnerTakeAll, SweepOptimizer::kSemiGlobal})
    for (const int threads : {0, 1, 16})
      for (const int width : {33, 200, 700}) {
        SweepShape shape = small_shape();
        shape.width = width;
        shape.height = width;
        shape.optimizer = optimizer;
        const StageTask task = sweep_task(shape, 0.5, threads);
        const auto grown = [&](int SweepShape::*size, const char* what) {
          SweepShape larger = shape;
          larger.*size += 1;
          expect_at_least(sweep_task(larger, 0.5, threads), task, what);
        };
        grown(&SweepShape::width, "width");
        grown(&SweepShape::height, "height");
        grown(&SweepShape::planes, "planes");
        grown(&SweepShape::sources, "sources");
        grown(&SweepShape::source_width, "source width");
        if (threads > 0) continue;
        SweepShape wider = shape;
        wider.options.window += 2;
        expect_at_least(sweep_task(wider, 0.5, threads), task, "window");
      }
}

TEST(StageWork, NoPairCountFallsAsASizeGrows) {
  for (const PairMethod method : {PairMethod::kBlockMatching, PairMethod::kSemiGlobal,
                                  PairMethod::kBeliefPropagation, PairMethod::kPipeline})
    for (const int width : {1, 5, 64, 333}) {
      PairOptions options;
      options.method = method;
      options.range.count = width;
      const StageTask task = pair_task(width, 2 * width, options, 1);
      expect_at_least(pair_task(width + 1, 2 * width, options, 1), task, "width");
      expect_at_least(pair_task(width, 2 * width + 1, options, 1), task, "height");
      options.range.count += 1;
      expect_at_least(pair_task(width, 2 * width, options, 1), task, "disparities");
    }
}

TEST(StageWork, OptionsOfOtherCostsAreOtherStages) {
  const std::string zncc = sweep_task(small_shape(), 1, 0).stage;
  SweepShape shape = small_shape();
  shape.options.best_k = 3;
  EXPECT_NE(sweep_task(shape, 1, 0).stage, zncc);
  shape = small_shape();
  shape.options.cost = CostKind::kSad;
  EXPECT_NE(sweep_task(shape, 1, 0).stage, zncc);
  shape = small_shape();
  shape.stages.aggregation.kind = Aggregation::kCrossBased;
  EXPECT_NE(sweep_task(shape, 1, 0).stage, zncc);
  shape = small_shape();
  shape.options.window = 9;  // predicted between other windows
  EXPECT_EQ(sweep_task(shape, 1, 0).stage, zncc);
}

TEST(StageWork, TheSourcesOfTheCoarseSweepDecideWhatItSees) {
  SweepSpec spec;
  spec.stages.patches = true;
  SampleSweep sample = sample_sweep({40, 30, 8, 10, 0.0}, spec);
  for (std::size_t s = 8; s < 10; ++s) {
    sample.problem.sources[s].camera.cx += 1000;  // of these nothing is seen
    sample.problem.coarser[0].sources[s].camera.cx += 500;
  }
  EXPECT_EQ(task_of(sample.problem, 1).work.hidden, 0);
}

TEST(SeenShare, OfAViewOntoItselfIsAll) {
  SampleSweep sample = sample_sweep({40, 30, 8, 2, 0.0}, {});
  EXPECT_DOUBLE_EQ(seen_share(sample.problem), 1);
}

TEST(SeenShare, FallsByTheShiftOutOfTheSource) {
  SampleSweep sample = sample_sweep({120, 60, 8, 1, 0.0}, {});
  // Everything moves by half of the width, whatever the plane.
  sample.problem.sources[0].camera.cx += 60;
  EXPECT_NEAR(seen_share(sample.problem), 0.5, 1e-9);
}

}  // namespace
}  // namespace recon

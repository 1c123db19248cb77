#include "predict/parallel_work.hpp"

#include <gtest/gtest.h>

#include "optimize/belief/belief_layout.hpp"
#include "optimize/belief/belief_tiling.hpp"
#include "optimize/semi_global/path_pass.hpp"

namespace recon {
namespace {

TEST(SharedWork, IsThatOfTheLastThreadTimesAll) {
  EXPECT_DOUBLE_EQ(shared_work({3, 1, 2}, 1), 6);
  EXPECT_DOUBLE_EQ(shared_work({3, 1, 2}, 2), 2 * 3);     // 3 | 1 + 2
  EXPECT_DOUBLE_EQ(shared_work({1, 1, 1, 4}, 2), 2 * 5);  // 1 + 1 | 1, then 4 beside the second one
  EXPECT_DOUBLE_EQ(shared_work({3, 1, 2}, 8), 8 * 3);
  EXPECT_DOUBLE_EQ(shared_work({}, 4), 0);
}

TEST(SharedWork, EqualPartsGoInRounds) {
  EXPECT_DOUBLE_EQ(shared_evenly(12, 4, 1), 12);
  EXPECT_DOUBLE_EQ(shared_evenly(12, 4, 2), 12);
  EXPECT_DOUBLE_EQ(shared_evenly(12, 4, 3), 18);
  EXPECT_DOUBLE_EQ(shared_evenly(12, 1, 16), 192);
}

TEST(WavefrontWork, OneWorkerDoesAllPieces) {
  EXPECT_DOUBLE_EQ(wavefront_work(10, 100, {1, 4, 32}, 1), 40);
  EXPECT_DOUBLE_EQ(wavefront_work(10, 100, {1, 4, 32}, 16), 16 * 40);  // the other 15 have none
}

TEST(WavefrontWork, ABandWaitsUntilTheOneAboveIsAhead) {
  // Bands of one row of 10 pieces: the second begins when the first has done two.
  EXPECT_DOUBLE_EQ(wavefront_work(2, 320, {2, 1, 32}, 2), 2 * 12);
  // The third and the fourth follow without waiting.
  EXPECT_DOUBLE_EQ(wavefront_work(4, 320, {2, 1, 32}, 2), 2 * 22);
  // Of a band of two rows the last row has two pieces when 1 + 2 + 2 are done.
  EXPECT_DOUBLE_EQ(wavefront_work(4, 320, {2, 2, 32}, 2), 2 * 25);
  // A single piece: the next begins when the one above is done.
  EXPECT_DOUBLE_EQ(wavefront_work(3, 20, {2, 1, 32}, 2), 2 * 3);
}

TEST(PathWork, BlocksButTheFirstAreGoneOverThreeTimes) {
  const SemiGlobalOptions options;
  const PathBlocks plan(640, 480, 512, 2, 1);
  ASSERT_GT(plan.blocks, 1);
  EXPECT_DOUBLE_EQ(path_work(640, 480, 512, options, 63, 1),
                   512.0 * 640 * (2.0 * plan.rows + 3.0 * (480 - plan.rows)));
}

TEST(PathWork, ANarrowImageDoesNotFeedAllThreads) {
  // 10 pieces in a row are enough for 3 workers; 16 threads wait for them.
  const double alone = path_work(320, 240, 64, {}, 63, 1), many = path_work(320, 240, 64, {}, 63, 16);
  EXPECT_GT(many, 16 * alone / 3);
  EXPECT_LT(many, 1.2 * 16 * alone / 3);
}

TEST(BeliefWork, TilesOverlap) {
  BeliefOptions options;
  options.levels = 1;
  options.iterations = 1;
  const BeliefLevel level = belief_pyramid({2000, 8, 256}, options).levels[0];
  const BeliefTiling tiling(level, 1, 2, 1);
  ASSERT_EQ(tiling.rows, 1);
  ASSERT_GT(tiling.columns, 1);
  // The only iteration needs one column more on each inner side of a tile.
  EXPECT_DOUBLE_EQ(belief_work(2000, 8, 256, options, 1), 256.0 * 4 * 8 * (2000 + 2 * (tiling.columns - 1)));
}

TEST(BeliefWork, CoarseLevelsHaveFewTiles) {
  // 4 tiles of the finest level at most, and one of all others but the second.
  const double alone = belief_work(400, 300, 48, {}, 1), many = belief_work(400, 300, 48, {}, 16);
  EXPECT_GT(many, 4 * alone);
  EXPECT_LT(many, 16 * alone);
}

}  // namespace
}  // namespace recon

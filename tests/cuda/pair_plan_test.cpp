#include <gtest/gtest.h>

#include "core/error.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/testing/timing.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

/// The device memory of pairs, which is counted without a GPU.

namespace recon::cuda {
namespace {

/// A multiple of 256 pixels, rows of a multiple of 64: no size is rounded up.
constexpr PairShape kShape{64, 32, true};
constexpr std::size_t kPixels = 64 * 32;

PairSpec pipeline_of(Optimizer optimizer) {
  PairSpec options(presets::plain_pipeline(), {0, 64});
  options.optimizer = optimizer;
  return options;
}

TEST(PairPlan, ArenasCountWhatIsTaken) {
  EXPECT_EQ(bytes_taken([](Arena& arena) {
              EXPECT_EQ(arena.take<float>(65), nullptr);  // 260 bytes: two steps
              arena.take<std::uint8_t>(1);
              arena.take<int>(0);
            }),
            3 * kArenaAlignment);
}

TEST(PairPlan, PipelinesCountTheMemoryOfTheirStages) {
  constexpr std::size_t kVolume = kPixels * 64;  // costs
  // Colour, grey and 16-bit images, a 32-bit census of each, the left disparities, and the volume.
  constexpr std::size_t kTransform = kPixels * 2 * (3 + 1 + 2 + 4) + kPixels * 4 + kVolume * 4;
  PairSpec options = pipeline_of(Optimizer::kWinnerTakeAll);
  EXPECT_EQ(bytes_taken(PairMethod{kShape, options}), kTransform);
  options.optimizer = Optimizer::kGraphCut;
  EXPECT_EQ(bytes_taken(PairMethod{kShape, options}), kTransform);
  options.optimizer = Optimizer::kSemiGlobal;
  // Integer costs, a volume of bytes for each of eight paths, and winners.
  constexpr std::size_t kPaths = kVolume * (1 + 8) + kPixels * sizeof(PathWinner);
  EXPECT_EQ(bytes_taken(PairMethod{kShape, options}), kTransform + kPaths);
  options.refine.subpixel = true;
  EXPECT_EQ(bytes_taken(PairMethod{kShape, options}), kTransform + kPaths + kPixels * 4);
  // Both views side by side: a second volume with paths, the right disparities, and outliers.
  options.refine.left_right = true;
  EXPECT_EQ(bytes_taken(PairMethod{kShape, options}),
            kTransform + 2 * kPaths + kPixels * 4 + kVolume * 4 + kPixels * (4 + sizeof(Outlier)));
  // A graph cut takes turns in the same memory.
  options.refine.graph_cut = true;
  EXPECT_EQ(bytes_taken(PairMethod{kShape, options}),
            kTransform + kPaths + kPixels * 4 + kPixels * (4 + sizeof(Outlier)));
}

TEST(PairPlan, MapsThatStayOnTheDeviceCountTheirPatches) {
  const auto more = [](const MethodSpec& method, const PairShape& shape, int min_patch) {
    const PairSpec options(method, {0, 64});
    return bytes_taken(PairMethod{shape, options, min_patch}) - bytes_taken(PairMethod{shape, options});
  };
  for (const int none : {0, 1}) EXPECT_EQ(more(presets::semi_global(), kShape, none), 0u);
  constexpr std::size_t kLabelsAndSizes = 2 * 4 * kPixels;
  EXPECT_EQ(more(presets::semi_global(), kShape, 60), kLabelsAndSizes);
  EXPECT_EQ(more(presets::block_matching(), kShape, 60), kLabelsAndSizes);
  // Planes, and maps with padding, become values without padding first.
  EXPECT_EQ(more(presets::belief_propagation(), kShape, 60), kLabelsAndSizes + 4 * kPixels);
  EXPECT_EQ(more(presets::block_matching(), {48, 32, false}, 60), 3 * 4 * std::size_t{48} * 32);
}

/// Rather than another one in its place.
TEST(PairPlan, StagesOfTheHostAloneAreRefused) {
  PairSpec cost = pipeline_of(Optimizer::kWinnerTakeAll), aggregation = cost;
  cost.cost.kind = static_cast<CostKind>(99);
  EXPECT_THROW(bytes_taken(PairMethod{kShape, cost}), UsageError);
  aggregation.aggregation.kind = static_cast<Aggregation>(99);
  EXPECT_THROW(bytes_taken(PairMethod{kShape, aggregation}), UsageError);
}

TEST(PairPlan, OnlyTransformsTakeSixteenBits) {
  for (const auto optimizer : {Optimizer::kSemiGlobal, Optimizer::kWinnerTakeAll}) {
    PairSpec options = pipeline_of(optimizer);
    PairShape bytes = kShape;
    bytes.words = false;
    EXPECT_EQ(bytes_taken(PairMethod{kShape, options}),
              bytes_taken(PairMethod{bytes, options}) + 4 * kPixels);
    options.cost.kind = CostKind::kColourDifference;
    EXPECT_EQ(bytes_taken(PairMethod{kShape, options}), bytes_taken(PairMethod{bytes, options}));
  }
}

TEST(PairPlan, WhatTheHostComputesIsNotTimedOnTheDevice) {
  PairProblem problem;
  problem.options = pipeline_of(Optimizer::kGraphCut);
  EXPECT_THROW(time_live(problem, 0, 1), UsageError);
}

}  // namespace
}  // namespace recon::cuda

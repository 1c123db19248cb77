#include <gtest/gtest.h>

#include "cuda/methods/stereo/pair_stream.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

/// The device memory of pairs, which is counted without a GPU.

namespace recon::cuda {
namespace {

/// A multiple of 256 pixels, rows of a multiple of 64: no size is rounded up.
constexpr PairShape kShape{64, 32, true};
constexpr std::size_t kPixels = 64 * 32;

PairOptions pipeline_of(PipelineOptimizer optimizer) {
  PairOptions options;
  options.method = PairMethod::kPipeline;
  options.range = {0, 64};
  options.pipeline.optimizer = optimizer;
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
  PairOptions options = pipeline_of(PipelineOptimizer::kWinnerTakeAll);
  EXPECT_EQ(pair_stream_bytes(kShape, options), kTransform);
  options.pipeline.optimizer = PipelineOptimizer::kGraphCut;
  EXPECT_EQ(pair_stream_bytes(kShape, options), kTransform);
  options.pipeline.optimizer = PipelineOptimizer::kSemiGlobal;
  // Integer costs, a volume of bytes for each of eight paths, and winners.
  constexpr std::size_t kPaths = kVolume * (1 + 8) + kPixels * sizeof(PathWinner);
  EXPECT_EQ(pair_stream_bytes(kShape, options), kTransform + kPaths);
  options.pipeline.refinement.subpixel = true;
  EXPECT_EQ(pair_stream_bytes(kShape, options), kTransform + kPaths + kPixels * 4);
  // Both views side by side: a second volume with paths, the right disparities, and outliers.
  options.pipeline.refinement.left_right = true;
  EXPECT_EQ(pair_stream_bytes(kShape, options),
            kTransform + 2 * kPaths + kPixels * 4 + kVolume * 4 + kPixels * (4 + sizeof(Outlier)));
  // A graph cut takes turns in the same memory.
  options.pipeline.refinement.graph_cut = true;
  EXPECT_EQ(pair_stream_bytes(kShape, options),
            kTransform + kPaths + kPixels * 4 + kPixels * (4 + sizeof(Outlier)));
}

TEST(PairPlan, OnlyTransformsTakeSixteenBits) {
  for (const auto optimizer : {PipelineOptimizer::kSemiGlobal, PipelineOptimizer::kWinnerTakeAll}) {
    PairOptions options = pipeline_of(optimizer);
    PairShape bytes = kShape;
    bytes.words = false;
    EXPECT_EQ(pair_stream_bytes(kShape, options), pair_stream_bytes(bytes, options) + 4 * kPixels);
    options.pipeline.cost = PipelineCost::kColourDifference;
    EXPECT_EQ(pair_stream_bytes(kShape, options), pair_stream_bytes(bytes, options));
  }
}

}  // namespace
}  // namespace recon::cuda

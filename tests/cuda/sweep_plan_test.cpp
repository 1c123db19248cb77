#include "cuda/methods/sweep/sweep_plan.hpp"

#include <gtest/gtest.h>

#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/match/sweep.hpp"
#include "methods/sweep/sweep_blocks.hpp"

/// The cutting of a view, which needs no GPU.

namespace recon::cuda {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

SweepSpec spec_of(const SweepOptions& options) {
  SweepSpec spec;
  spec.options = options;
  return spec;
}
SweepSpec zncc() {
  return spec_of({CostKind::kZncc, 7, Combination::kBestK, 2});
}
SweepSpec sad() {
  return spec_of({CostKind::kSad, 7, Combination::kMinimum, 1});
}

TEST(SweepPlan, SmallViewsAreDoneInOnePiece) {
  const SweepShape shape{zncc(), 640, 480, 640, 480, 1, 8, 128};
  const SweepPlan plan = plan_sweep(shape, SweepPath::kAuto, {132, 16 * kGiB});
  EXPECT_FALSE(plan.fused);
  EXPECT_EQ(plan.tiles, 1);
  EXPECT_EQ(plan.rows, 480);
  EXPECT_EQ(plan.storage, SourceStorage::kQuads);
  // reference and upload, quads of eight sources, volume, seven halves and three floats a pixel
  EXPECT_EQ(plan.bytes, 640u * 480 * (1 + 1 + 8 * 4 + 2 * 128 + 2 * 7 + 4 * 3));
}

TEST(SweepPlan, TwentyFourMegapixelsAnd512PlanesFitAGibibyte) {
  const SweepShape shape{zncc(), 6000, 4000, 6000, 4000, 1, 8, 512};
  for (const std::size_t streams : {1u, 2u}) {
    const SweepPlan plan = plan_sweep(shape, SweepPath::kAuto, {132, kGiB / streams});
    EXPECT_LE(plan.bytes, kGiB / streams);
    EXPECT_GT(plan.tiles, 1);
  }
  const SweepPlan fused =
      plan_sweep({sad(), 6000, 4000, 6000, 4000, 1, 8, 512}, SweepPath::kAuto, {132, kGiB / 2});
  EXPECT_TRUE(fused.fused);
  EXPECT_LE(fused.bytes, kGiB / 2);
}

TEST(SweepPlan, CutsByPlanesWhereOneRowOfTilesIsTooMuch) {
  const SweepShape shape{zncc(), 6000, 4000, 100, 100, 1, 1, 4096};
  const SweepPlan plan = plan_sweep(shape, SweepPath::kAuto, {132, 128u << 20});
  EXPECT_LE(plan.bytes, 128u << 20);
  EXPECT_LT(plan.planes, 4096);
  EXPECT_EQ(plan.rows, 26);
}

TEST(SweepPlan, SaysWhatIsNeededWhereNothingFits) {
  const SweepShape shape{zncc(), 6000, 4000, 6000, 4000, 1, 8, 512};
  try {
    plan_sweep(shape, SweepPath::kAuto, {132, 100u << 20});
    FAIL() << "no exception";
  } catch (const OutOfMemory& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("100 MiB may be used"), std::string::npos) << what;
    EXPECT_NE(what.find("--gpu-memory-limit"), std::string::npos) << what;
  }
}

TEST(SweepPlan, RefusesOptionsOutOfRange) {
  const SweepShape shape{sad(), 64, 48, 64, 48, 1, 2, 8};
  const SweepDevice device{132, kGiB};
  SweepShape even = shape;
  even.options.window = 8;
  EXPECT_THROW(plan_sweep(even, SweepPath::kAuto, device), std::logic_error);
  SweepShape colour = shape;
  colour.channels = 3;
  EXPECT_THROW(plan_sweep(colour, SweepPath::kFused, device), std::logic_error);
  colour.options = zncc().options;
  EXPECT_THROW(plan_sweep(colour, SweepPath::kAuto, device), std::logic_error);
}

/// Memory is taken for the largest block: none that is smaller may need more.
TEST(SweepPlan, SumsOfCrossesTakeNoMoreForSmallerBlocks) {
  struct View {
    int width, height, planes;
  };
  for (const View& view : {View{3200, 2128, 16}, View{3200, 2128, 448}, View{6221, 4146, 512},
                           View{4467, 2240, 32}, View{640, 480, 64}}) {
    const std::vector<SweepBlock> blocks = volume_blocks(view.width, view.height, view.planes, {});
    const Tile largest = largest_block(blocks);
    const std::size_t counted = cross_by_sums_bytes(largest.width, view.planes, largest.height);
    for (const SweepBlock& block : blocks)
      EXPECT_LE(cross_by_sums_bytes(block.outer.width, view.planes, block.outer.height), counted)
          << view.width << "x" << view.height << ", " << view.planes << " planes";
  }
}

TEST(SweepPlan, StoredCostsHaveNoMostPlanes) {
  SweepShape shape{zncc(), 24, 19, 27, 21, 1, 2, 5000};
  shape.stages.aggregation.kind = Aggregation::kConstantWindow;
  const SweepPlan plan = plan_sweep(shape, SweepPath::kAuto, {132, kGiB});
  EXPECT_TRUE(plan.stored);
  EXPECT_FALSE(plan.paths);
  shape.optimizer = SweepOptimizer::kSemiGlobal;
  EXPECT_THROW(plan_sweep(shape, SweepPath::kAuto, {132, kGiB}), UsageError);
}

TEST(SweepGrid, PlanesPerBlockKeepTheDeviceBusy) {
  // 304 tiles on 132 multiprocessors: whole blocks would take three waves for 2.3 waves of work.
  const int planes = planes_per_block(304, 256, 3, 132, 16);
  const int ranges = (256 + planes - 1) / planes;
  const double waves = static_cast<double>((304 * ranges + 131) / 132);
  EXPECT_LT(waves * planes, 1.08 * 304.0 * 256.0 / 132.0);
  EXPECT_EQ(planes_per_block(100000, 64, 3, 132, 16), 64) << "many tiles need no cut";
  EXPECT_LE(planes_per_block(1, 4000, 32, 132, 1) * 32, 4096) << "the book-keeping of a block is bounded";
}

}  // namespace
}  // namespace recon::cuda

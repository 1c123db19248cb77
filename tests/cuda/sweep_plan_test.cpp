#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/match/sweep.hpp"
#include "cuda/methods/sweep/patch_stages.hpp"
#include "cuda/methods/sweep/sweep_executor.hpp"
#include "methods/sweep/depth_search.hpp"
#include "methods/sweep/plane_sweep.hpp"

/// The cutting of a view, which needs no GPU.

namespace recon::cuda {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

MethodSpec spec_of(const CostOptions& options) {
  MethodSpec spec;
  spec.cost = options;
  return spec;
}
MethodSpec zncc() {
  return spec_of({CostKind::kZncc, 7, Combination::kBestK, 2});
}
MethodSpec sad() {
  return spec_of({CostKind::kSad, 7, Combination::kMinimum, 1});
}

TEST(SweepPlan, SmallViewsAreDoneInOnePiece) {
  const SweepShape shape{zncc(), 640, 480, 640, 480, 1, 8, 128};
  const SweepPlan plan = plan_sweep(shape, 16 * kGiB);
  EXPECT_EQ(plan.tiles, 1);
  EXPECT_EQ(plan.rows, 480);
  EXPECT_EQ(plan.storage, SourceStorage::kQuads);
  // reference and upload, quads of eight sources, volume, and three floats a pixel
  EXPECT_EQ(plan.bytes, 640u * 480 * (1 + 1 + 8 * 4 + 2 * 128 + 4 * 3));
}

TEST(SweepPlan, TwentyFourMegapixelsAnd512PlanesFitAGibibyte) {
  for (const MethodSpec& spec : {zncc(), sad()})
    for (const std::size_t streams : {1u, 2u}) {
      const SweepPlan plan = plan_sweep({spec, 6000, 4000, 6000, 4000, 1, 8, 512}, kGiB / streams);
      EXPECT_LE(plan.bytes, kGiB / streams);
      EXPECT_GT(plan.tiles, 1);
    }
}

TEST(SweepPlan, CutsByPlanesWhereOneRowOfTilesIsTooMuch) {
  const SweepShape shape{zncc(), 6000, 4000, 100, 100, 1, 1, 4096};
  const SweepPlan plan = plan_sweep(shape, 128u << 20);
  EXPECT_LE(plan.bytes, 128u << 20);
  EXPECT_LT(plan.planes, 4096);
  EXPECT_EQ(plan.rows, 26);
}

TEST(SweepPlan, SaysWhatIsNeededWhereNothingFits) {
  const SweepShape shape{zncc(), 6000, 4000, 6000, 4000, 1, 8, 512};
  try {
    plan_sweep(shape, 100u << 20);
    FAIL() << "no exception";
  } catch (const OutOfMemory& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("100 MiB may be used"), std::string::npos) << what;
    EXPECT_NE(what.find("--gpu-memory-limit"), std::string::npos) << what;
  }
}

TEST(SweepPlan, FitsWhereItSaysThatIsEnough) {
  for (const int planes : {1, 2, 7, 8, 15, 16, 250, 512}) {
    const SweepShape shape{zncc(), 6000, 4000, 6000, 4000, 1, 8, planes};
    try {
      plan_sweep(shape, 1u << 20);
      ADD_FAILURE() << "no exception";
    } catch (const OutOfMemory& error) {
      const std::string what = error.what(), before = "needs at least ";
      const std::size_t needed = std::stoul(what.substr(what.find(before) + before.size())) << 20;
      EXPECT_LE(plan_sweep(shape, needed).bytes, needed) << planes;
      EXPECT_THROW(plan_sweep(shape, needed - (2u << 20)), OutOfMemory) << planes;
    }
  }
}

TEST(SweepPlan, RefusesOptionsOutOfRange) {
  const SweepShape shape{sad(), 64, 48, 64, 48, 1, 2, 8};
  SweepShape even = shape;
  even.cost.window = 8;
  EXPECT_THROW(plan_sweep(even, kGiB), std::logic_error);
  SweepShape colour = shape;
  colour.channels = 3;
  colour.cost = zncc().cost;
  EXPECT_THROW(plan_sweep(colour, kGiB), std::logic_error);
}

/// Memory is taken for the largest block: none that is smaller may need more.
TEST(SweepPlan, SumsOfCrossesTakeNoMoreForSmallerBlocks) {
  struct View {
    int width, height, planes;
  };
  for (const View& view : {View{3200, 2128, 16}, View{3200, 2128, 448}, View{6221, 4146, 512},
                           View{4467, 2240, 32}, View{640, 480, 64}}) {
    SweepShape shape{zncc(), view.width, view.height, view.width, view.height, 1, 2, view.planes};
    shape.aggregation.kind = Aggregation::kCrossBased;
    const std::vector<SweepBlock> blocks = blocks_of(shape);
    const Tile largest = largest_block(blocks);
    const auto sums_of = [&](const Tile& block) {
      return bytes_taken(
          [&](Arena& arena) { CrossSums::take(block.width, view.planes, block.height, arena); });
    };
    for (const SweepBlock& block : blocks)
      EXPECT_LE(sums_of(block.outer), sums_of(largest))
          << view.width << "x" << view.height << ", " << view.planes << " planes";
  }
}

TEST(SweepPlan, StoredCostsHaveNoMostPlanes) {
  SweepShape shape{zncc(), 24, 19, 27, 21, 1, 2, 5000};
  shape.aggregation.kind = Aggregation::kConstantWindow;
  EXPECT_GT(plan_sweep(shape, kGiB).bytes, std::size_t{24} * 19 * 5000 * sizeof(float));
  shape.optimizer = Optimizer::kSemiGlobal;
  EXPECT_THROW(plan_sweep(shape, kGiB), UsageError);
}

std::string stages_of(const SweepShape& shape) {
  Arena counter = Arena::counter();
  std::string names;
  for (const auto& stage : block_stages(shape, plan_sweep(shape, kGiB), {0, 0, 64, 48}, counter).stages)
    names += std::string(names.empty() ? "" : ", ") + stage.name;
  return names;
}

TEST(SweepStages, AreThoseOfTheMethod) {
  SweepShape shape{zncc(), 64, 48, 64, 48, 1, 2, 8};
  EXPECT_EQ(stages_of(shape), "winner") << "costs are never stored as a whole";
  shape.optimizer = Optimizer::kSemiGlobal;
  EXPECT_EQ(stages_of(shape), "cost, paths");
  shape.refine.label_edges = true;
  EXPECT_EQ(stages_of(shape), "cost, quantize, paths, edges");
  shape.aggregation.kind = Aggregation::kAdaptiveWeight;
  EXPECT_EQ(stages_of(shape), "cost, colours, aggregation, quantize, paths, edges");
  shape.optimizer = Optimizer::kWinnerTakeAll;
  EXPECT_EQ(stages_of(shape), "cost, colours, aggregation, winner, edges");
  shape.aggregation.kind = Aggregation::kConstantWindow;
  shape.refine.graph_cut = true;
  EXPECT_EQ(stages_of(shape), "cost, aggregation") << "the host goes on";
}

SweepShape patches(int width, int height, int sources, int levels) {
  SweepShape shape{zncc(), width, height, width, height, 1, sources, 32};
  set_patches(shape, true);
  shape.patch_match.levels = levels;
  return shape;
}

std::size_t bytes_of_patches(const SweepShape& shape) {
  return bytes_taken([&](Arena& arena) { PatchStages(shape, SourceStorage::kQuads, arena); });
}

TEST(PatchPlan, CountsTheSweepAndThePatchesWhichShareTheirMemory) {
  const SweepPlan plan = plan_sweep(patches(640, 480, 8, 1), kGiB);
  EXPECT_EQ(plan.patch_storage, SourceStorage::kQuads);
  // weights; states, sources (in the same memory as coarse states), coarse sources (as coarse depths),
  // reference and upload, quads and costs (a float and a byte) of eight sources; four more rows of costs; the
  // sums of levels
  const std::size_t pixels = std::size_t{640} * 480;
  EXPECT_EQ(plan.bytes,
            49 * 256 + pixels * (16 + 4 + 1) + pixels * (1 + 1 + 8 * 4 + 8 * 5) + 640 * 8 * 4 * 5 + 256);
  // Of one source the prior and the results need more than the costs of the patches.
  EXPECT_EQ(bytes_of_patches(patches(640, 480, 1, 1)),
            49 * 256 + pixels * (16 + 4 + 1) + pixels * (1 + 4 + 2 * 4) + 256);

  for (const Optimizer optimizer : {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal}) {
    SweepShape many = patches(640, 480, 2, 0);
    many.planes = 512;
    many.optimizer = optimizer;
    const std::size_t bytes = plan_sweep(many, kGiB).bytes;
    EXPECT_GT(bytes, bytes_of_patches(many));
    EXPECT_EQ(bytes, plan_sweep(coarsest_shape(many), kGiB).bytes);
  }
}

TEST(PatchPlan, TwentyFourMegapixelsAndTwentySourcesFitAGibibyte) {
  SweepShape shape = patches(6000, 4000, 20, 1);
  shape.planes = 256;
  shape.coarsest = Optimizer::kSemiGlobal;
  const SweepPlan plan = plan_sweep(shape, kGiB);
  EXPECT_LE(plan.bytes, kGiB);
  EXPECT_EQ(plan.sums, 1);
  const SweepShape coarse = coarsest_shape(shape);
  const SweepPlan one = plan_sweep(coarse, kGiB), two = plan_sweep(coarse, 2 * kGiB);
  EXPECT_EQ(two.sums, 2);
  if (one.storage == two.storage && one.rows == two.rows && one.planes == two.planes) {
    const Tile block = largest_block(blocks_of(coarse));
    EXPECT_EQ(two.bytes - one.bytes, 2 * element_count({block.width, block.height, 256}));
  }
}

TEST(PatchPlan, TheCoarseSweepHasTwelveSources) {
  const SweepShape coarse{zncc(), 160, 120, 160, 120, 1, 12, 32};
  EXPECT_EQ(plan_sweep(coarsest_shape(patches(637, 479, 20, 2)), kGiB).bytes, plan_sweep(coarse, kGiB).bytes);
}

TEST(PatchPlan, StoresBytesWhereQuadsDoNotFit) {
  const SweepShape shape = patches(640, 480, 8, 1);
  const std::size_t quads = plan_sweep(shape, kGiB).bytes;
  EXPECT_EQ(plan_sweep(shape, quads).patch_storage, SourceStorage::kQuads);
  const SweepPlan bytes = plan_sweep(shape, quads - 1);
  EXPECT_EQ(bytes.patch_storage, SourceStorage::kBytes);
  // A quad is four bytes, and nothing is uploaded before its conversion.
  EXPECT_EQ(bytes.bytes, quads - std::size_t{640} * 480 * (8 * 3 + 1));
  EXPECT_THROW(plan_sweep(shape, quads - 1, SourceStorage::kQuads), OutOfMemory);
  EXPECT_EQ(plan_sweep(shape, kGiB, SourceStorage::kBytes).bytes, bytes.bytes);
  EXPECT_EQ(plan_sweep(shape, bytes.bytes).bytes, bytes.bytes);
  EXPECT_THROW(plan_sweep(shape, bytes.bytes - 1), OutOfMemory);
}

TEST(PatchPlan, SaysWhatToLowerWhereNothingFits) {
  const SweepShape shape = patches(6000, 4000, 20, 1);
  for (const std::size_t limit : {std::size_t{1} << 20, std::size_t{200} << 20, std::size_t{800} << 20}) {
    try {
      plan_sweep(shape, limit);
      ADD_FAILURE() << "no exception";
    } catch (const OutOfMemory& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(std::to_string(limit >> 20) + " MiB may be used"), std::string::npos) << what;
      for (const char* option : {"--gpu-memory-limit", "--max-image-size", "--sources"})
        EXPECT_NE(what.find(option), std::string::npos) << what;
    }
  }
}

/// The choice of sources holds the costs of whole rows: two on either side of those that it chooses for.
TEST(PatchPlan, CostsAreHeldInBandsOfRows) {
  const auto rows = [](const SweepShape& shape) { return PatchStages::band_rows(shape); };
  EXPECT_EQ(rows(patches(640, 480, 8, 1)), 484) << "all";
  EXPECT_EQ(rows(patches(6000, 4000, 32, 1)), (48 << 20) / (6000 * 32 * 5)) << "a float and a byte each";
  for (const int height : {1, 9, 12, 13}) EXPECT_EQ(rows(patches(64, height, 8, 1)), height + 4);
  EXPECT_GT(rows(patches(16384, 16384, 32, 1)), 4);
}

TEST(Arena, WhatSharesMemoryTakesAsMuchAsTheLargest) {
  const auto shared = [](std::size_t first, std::size_t second) {
    return bytes_taken([&](Arena& arena) {
      arena.take<char>(1);
      arena.share([&] { arena.take<char>(first); },
                  [&] {
                    arena.take<char>(second);
                    arena.take<char>(1);
                  });
      arena.take<char>(1);
    });
  };
  EXPECT_EQ(shared(1000, 1), 2 * kArenaAlignment + 1024);
  EXPECT_EQ(shared(1, 1000), 2 * kArenaAlignment + 1024 + kArenaAlignment);
}

TEST(PatchStages, AreThoseOfTheLevel) {
  SweepShape shape = patches(64, 48, 2, 1);
  shape.refine.prior = true;
  shape.patch_match.iterations = 2;
  Arena counter = Arena::counter();
  const PatchStages patches(shape, SourceStorage::kQuads, counter);
  const auto names = [&](int level) {
    std::string list;
    for (const auto& stage : patches.at_level(level)) list += std::string(stage.name) + "; ";
    return list;
  };
  EXPECT_EQ(names(1), "first planes; choice; improvement; choice; improvement; ");
  EXPECT_EQ(names(0), "finer planes; choice; improvement; choice; improvement; prior; depths; ");
}

TEST(SweepGrid, PlanesPerBlockKeepTheDeviceBusy) {
  // 304 tiles on 132 multiprocessors: whole blocks would take three waves for 2.3 waves of work.
  const int planes = planes_per_block(304, 256, 1365, 132, 16);
  const int ranges = (256 + planes - 1) / planes;
  const double waves = static_cast<double>((304 * ranges + 131) / 132);
  EXPECT_LT(waves * planes, 1.08 * 304.0 * 256.0 / 132.0);
  EXPECT_EQ(planes_per_block(100000, 64, 1365, 132, 16), 64) << "many tiles need no cut";
  EXPECT_LE(planes_per_block(1, 4000, 62, 132, 1), 62) << "the book-keeping of a block is bounded";
}

/// A sweeper of views in device memory takes its memory once.
TEST(SweepPlan, OfFewerPlanesAndSourcesFitsWhereTheLargestOneDoes) {
  std::vector<MethodSpec> specs;
  for (const MethodSpec& spec : {zncc(), sad()})
    for (const Optimizer optimizer : {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal}) {
      specs.push_back(spec);
      specs.back().optimizer = optimizer;
    }
  specs.push_back(zncc());
  set_patches(specs.back(), true);
  specs.back().coarsest = Optimizer::kSemiGlobal;
  for (const MethodSpec& spec : specs)
    for (const auto& [width, height] : {std::pair{1, 1}, {200, 150}, {640, 480}, {3000, 2000}}) {
      SweepShape shape{spec, width, height, width, height, 1, 8, 256};
      shape.patch_match.levels = has_patches(spec) && height >= 320 ? 1 : 0;
      const SweepShape search = search_shape(shape);
      const std::size_t capacity =
          std::max(plan_sweep(shape, 8 * kGiB).bytes, plan_sweep(search, 8 * kGiB).bytes);
      for (const int planes : {2, 3, 31, 32, 100, 129, 255})
        for (const int sources : {1, 7, 8}) {
          SweepShape smaller = shape, smaller_search = search;
          smaller.planes = planes, smaller_search.planes = std::min(planes, search.planes);
          smaller.sources = smaller_search.sources = sources;
          EXPECT_NO_THROW(plan_sweep(smaller, capacity)) << width << " " << planes << " " << sources;
          EXPECT_NO_THROW(plan_sweep(smaller_search, capacity)) << width << " " << planes << " " << sources;
        }
    }
}

}  // namespace
}  // namespace recon::cuda

#include "cuda/methods/sweep/sweep_plan.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/match/sweep.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon::cuda {
namespace {

/// Larger volumes are divided by rows even if they would fit: they are no faster.
constexpr std::size_t kMaxVolumeBytes = std::size_t{4} << 30;
/// The min number of planes stored at a time; fewer would leave most of the device idle.
constexpr int kMinPlanes = 8;
/// The max number of planes that the kernels of the semi-global optimizer have registers for.
constexpr int kMaxPathPlanes = 4096;

/// Bytes of the optimizer for the largest of the blocks.
std::size_t max_path_bytes(const SweepShape& shape, const std::vector<SweepBlock>& blocks, int sums) {
  std::size_t max = 0;
  for (const SweepBlock& block : blocks) {
    const SemiGlobalInput input =
        path_input(block.outer.width, block.outer.height, shape.planes, sums, shape.semi_global);
    max = std::max(max, bytes_taken([&](Arena& arena) { SemiGlobal::take(input, arena); }));
  }
  return max;
}

/// The optimizer, and the device that runs it.
SweepPlan kind_of(const SweepShape& shape) {
  SweepPlan kind;
  kind.stored = needs_volume(shape);
  kind.on_host = has_graph_cut(shape);
  kind.paths = shape.optimizer == Optimizer::kSemiGlobal && !kind.on_host;
  return kind;
}

class Planner {
 public:
  Planner(const SweepShape& shape, std::size_t memory_limit, int sums)
      : shape_(shape),
        options_(shape.cost),
        memory_limit_(memory_limit),
        kind_(kind_of(shape)),
        width_(shape.width),
        height_(shape.height) {
    if (kind_.by_blocks()) {
      const std::vector<SweepBlock> blocks = blocks_of(shape);
      const Tile largest = largest_block(blocks);
      width_ = largest.width;
      height_ = largest.height;
      if (kind_.paths) kind_.path_bytes = max_path_bytes(shape, blocks, sums);
    }
    kind_.sums = sums;
    block_rows_ = std::min(height_, tile_height(options_.kind, options_.window / 2));
  }

  /// The largest pieces that fit; empty if none does.
  std::optional<SweepPlan> largest(SourceStorage storage) const {
    const int blocks = (height_ + block_rows_ - 1) / block_rows_;
    for (int pieces = 1; pieces <= blocks; ++pieces) {
      const int rows = std::min(height_, (blocks + pieces - 1) / pieces * block_rows_);
      const SweepPlan plan = counted(storage, rows, shape_.planes);
      if (fits(plan)) return plan;
    }
    for (int planes = shape_.planes / 2; planes >= std::min(kMinPlanes, shape_.planes); planes /= 2) {
      const SweepPlan plan = counted(storage, block_rows_, planes);
      if (fits(plan)) return plan;
    }
    return {};
  }

  SweepPlan smallest() const {
    // Winners in ranges of planes need memory from one to the next: few planes take less in one range.
    const SweepPlan pieces = counted(SourceStorage::kBytes, block_rows_, std::min(kMinPlanes, shape_.planes));
    const SweepPlan whole = counted(SourceStorage::kBytes, block_rows_, shape_.planes);
    return whole.bytes < pieces.bytes ? whole : pieces;
  }

 private:
  SweepPlan counted(SourceStorage storage, int rows, int planes) const {
    SweepPlan plan = kind_;
    plan.width = width_;
    plan.height = height_;
    plan.storage = storage;
    plan.rows = rows;
    plan.planes = planes;
    plan.sweep_bytes = plan.path_bytes + bytes_taken([&](Arena& arena) { map_memory(arena, shape_, plan); });
    plan.bytes = plan.sweep_bytes;
    const int row_pieces = (height_ + rows - 1) / rows;
    plan.tiles = row_pieces * ((shape_.planes + planes - 1) / planes);
    return plan;
  }

  bool fits(const SweepPlan& plan) const {
    const std::size_t volume = Volume<std::uint16_t>::bytes(width_, plan.planes, plan.rows);
    const bool smallest = plan.rows == block_rows_ && plan.planes < shape_.planes;
    return plan.bytes <= memory_limit_ && (volume <= kMaxVolumeBytes || smallest);
  }

  const SweepShape& shape_;
  const CostOptions& options_;
  std::size_t memory_limit_;
  SweepPlan kind_;  ///< the part of a plan that the shape determines
  int width_, height_;
  int block_rows_ = 0;
};

std::string in_mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

/// The options that reduce the memory. Blocks do not shrink with the view, so only their stages matter.
std::string what_takes_less(const SweepShape& shape, const SweepPlan& plan) {
  std::string what;
  if (plan.paths) what += "; --optimizer winner takes less";
  if (shape.aggregation.kind != Aggregation::kNone) what += "; --aggregation none takes less";
  if (shape.refine.graph_cut || shape.refine.edges) what += "; --refine none takes less";
  if (plan.by_blocks()) what += "; --device cpu takes none";
  return what;
}

}  // namespace

/// The plan of the coarsest level, with the memory of the patches.
static SweepPlan plan_patches(const SweepShape& shape, std::size_t memory_limit,
                              std::optional<SourceStorage> storage) {
  SweepPlan plan = plan_sweep(coarsest_shape(shape), memory_limit, storage);
  plan.patches = true;
  std::size_t bytes = 0;
  for (const SourceStorage kind : {SourceStorage::kQuads, SourceStorage::kBytes}) {
    if (storage && *storage != kind) continue;
    plan.patch_storage = kind;
    bytes = bytes_taken([&](Arena& arena) { map_patch_memory(arena, shape, kind); });
    if (bytes <= memory_limit) {
      plan.patch_bytes = bytes;
      plan.bytes = std::max(plan.sweep_bytes, bytes);
      return plan;
    }
  }
  throw OutOfMemory("the patches of a view of " + std::to_string(shape.width) + "x" +
                    std::to_string(shape.height) + " with " + std::to_string(shape.sources) +
                    " sources need " + in_mebibytes(bytes) + " of GPU memory, " + in_mebibytes(memory_limit) +
                    " may be used; raise --gpu-memory-limit, or lower --max-image-size or --sources; "
                    "--refine none takes less");
}

SweepPlan plan_sweep(const SweepShape& shape, std::size_t memory_limit,
                     std::optional<SourceStorage> storage) {
  check(shape, true);
  if (shape.refine.patches) return plan_patches(shape, memory_limit, storage);
  const CostOptions& options = shape.cost;
  EXPECTS(shape.width >= 1 && shape.height >= 1 && shape.source_width >= 1 && shape.source_height >= 1);
  EXPECTS(shape.width <= kMaxImageSide && shape.height <= kMaxImageSide);
  EXPECTS(shape.source_width <= kMaxImageSide && shape.source_height <= kMaxImageSide);
  EXPECTS(shape.channels == 1 || (shape.channels == 3 && options.kind == CostKind::kSad));
  EXPECTS(shape.sources >= 1 && shape.sources <= kMaxSources);
  EXPECTS(shape.planes >= 1 && shape.planes <= kMaxPlanes);
  EXPECTS(options.window >= kMinWindow && options.window <= kMaxWindow && options.window % 2 == 1);
  EXPECTS(options.best_k >= 1 && options.best_k <= kMaxBestK);
  const SweepPlan shaped = kind_of(shape);
  if (shaped.paths && shape.planes > kMaxPathPlanes)
    throw UsageError("a view of " + std::to_string(shape.planes) +
                     " planes: a GPU follows paths over up to " + std::to_string(kMaxPathPlanes) +
                     "; lower --planes, or take --optimizer winner or --device cpu");
  const int min_sums = shaped.paths ? 1 : 2;
  for (int sums = 2; sums >= min_sums; --sums) {
    const Planner planner(shape, memory_limit, sums);
    for (const SourceStorage kind : {SourceStorage::kQuads, SourceStorage::kBytes}) {
      if (storage && *storage != kind) continue;
      if (const auto plan = planner.largest(kind)) return *plan;
    }
  }
  throw OutOfMemory("a view of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) +
                    " with " + std::to_string(shape.sources) + " sources of up to " +
                    std::to_string(shape.source_width) + "x" + std::to_string(shape.source_height) +
                    " needs at least " +
                    in_mebibytes(Planner(shape, memory_limit, min_sums).smallest().bytes) +
                    " of GPU memory, " + in_mebibytes(memory_limit) +
                    " may be used; raise --gpu-memory-limit, or lower --max-image-size or --sources" +
                    what_takes_less(shape, shaped));
}

SemiGlobalInput path_input(int width, int height, int planes, int sums, const SemiGlobalOptions& options) {
  SemiGlobalInput input;
  input.width = width;
  input.height = height;
  input.planes = planes;
  input.options = options;
  input.max_cost = kInvalidQuantizedCost;
  input.sums = sums;
  return input;
}

PatchMemory map_patch_memory(Arena& arena, const SweepShape& shape, SourceStorage storage) {
  PatchMemory map{};
  const auto count = [](std::ptrdiff_t pitch, int rows) { return static_cast<std::size_t>(pitch * rows); };
  const auto half = [](int side) { return (side + 1) / 2; };
  const SweepShape coarsest = coarsest_shape(shape);
  const std::size_t depths = count(WorkMemoryMap::float_pitch(coarsest.width), coarsest.height);
  const std::size_t pixels = count(shape.width, shape.height);
  const std::size_t coarse_pixels =
      shape.patch_match.levels > 0 ? count(half(shape.width), half(shape.height)) : 0;
  const auto take = [&](std::size_t bytes) { return arena.take<std::byte>(bytes); };
  map.weights = arena.take<std::uint8_t>(256 * static_cast<std::size_t>(patch_samples(kMaxPatchRadius)));
  map.states[0] = arena.take<PatchState>(pixels);
  std::byte* shared = take(std::max(pixels * sizeof(PatchSources), coarse_pixels * sizeof(PatchState)));
  map.chosen[0] = reinterpret_cast<PatchSources*>(shared);
  map.states[1] = reinterpret_cast<PatchState*>(shared);
  map.support.parents = reinterpret_cast<std::int32_t*>(shared);
  map.results[2] = reinterpret_cast<float*>(shared);
  shared = take(std::max({coarse_pixels * sizeof(PatchSources), depths * sizeof(float), pixels}));
  map.chosen[1] = reinterpret_cast<PatchSources*>(shared);
  map.depth = reinterpret_cast<float*>(shared);
  map.support.kinds = reinterpret_cast<PixelKind*>(shared);
  map.inside = reinterpret_cast<std::uint8_t*>(shared);
  map.support.levels = arena.take<unsigned long long>(2 * kComparedSources);
  map.reference = arena.take<std::uint8_t>(count(WorkMemoryMap::byte_pitch(shape.width), shape.height));
  const std::size_t bytes = count(WorkMemoryMap::byte_pitch(shape.source_width), shape.source_height);
  const std::size_t elements = count(WorkMemoryMap::quad_pitch(shape.source_width), shape.source_height);
  const bool quads = storage == SourceStorage::kQuads;
  std::size_t compared_end = 0;
  for (int s = 0; s < shape.sources; ++s) {
    map.source[s] = quads ? static_cast<void*>(arena.take<std::uint32_t>(elements))
                          : static_cast<void*>(arena.take<std::uint8_t>(bytes));
    if (s < kComparedSources) compared_end = arena.used();
  }
  if (quads) map.upload = arena.take<std::uint8_t>(bytes);
  const std::size_t row = count(shape.width, shape.sources);
  map.band_rows = static_cast<int>(
      std::min<std::size_t>(PatchMemory::kBandBytes / row, static_cast<std::size_t>(shape.height) + 4));
  map.costs = arena.take<std::uint8_t>(row * static_cast<std::size_t>(map.band_rows));
  const std::size_t patches_end = arena.used();
  arena.rewind(compared_end);
  for (int i = 0; i < 2; ++i) map.results[i] = arena.take<float>(pixels);
  map.support.choices = reinterpret_cast<std::uint32_t*>(map.results[0]);
  map.support.balances = reinterpret_cast<std::int32_t*>(map.results[1]);
  if (arena.used() < patches_end) take(patches_end - arena.used());
  return map;
}

/// Takes the memory of stored costs and of the stages that need them.
static void map_stored(Arena& arena, const SweepShape& shape, const SweepPlan& plan, WorkMemoryMap& map) {
  const AggregationOptions& by = shape.aggregation;
  const std::size_t pixels = element_count({plan.width, plan.height});
  map.costs = arena.take<float>(device_volume_floats(plan.width, shape.planes, plan.height));
  map.scratch = arena.take<std::byte>(aggregation_bytes(plan.width, shape.planes, plan.height, by));
  if (by.kind == Aggregation::kCrossBased || by.kind == Aggregation::kAdaptiveWeight)
    map.colours = arena.take<Rgb8>(pixels);
  if (shape.refine.edges)
    map.depths =
        arena.take<float>(static_cast<std::size_t>(WorkMemoryMap::float_pitch(plan.width) * plan.height));
  if (by.kind == Aggregation::kCrossBased) map.arms = arena.take<Cross>(pixels);
}

WorkMemoryMap map_memory(Arena& arena, const SweepShape& shape, const SweepPlan& plan) {
  WorkMemoryMap map{};
  const bool quads = plan.storage == SourceStorage::kQuads;
  const auto count = [](std::ptrdiff_t pitch, int rows) { return static_cast<std::size_t>(pitch * rows); };
  for (int c = 0; c < shape.channels; ++c)
    map.reference[c] = arena.take<std::uint8_t>(count(WorkMemoryMap::byte_pitch(shape.width), shape.height));
  const std::size_t bytes = count(WorkMemoryMap::byte_pitch(shape.source_width), shape.source_height);
  const std::size_t elements = count(WorkMemoryMap::quad_pitch(shape.source_width), shape.source_height);
  for (int s = 0; s < shape.sources; ++s)
    for (int c = 0; c < shape.channels; ++c)
      map.source[s][c] = quads ? static_cast<void*>(arena.take<std::uint32_t>(elements))
                               : static_cast<void*>(arena.take<std::uint8_t>(bytes));
  if (quads) map.upload = arena.take<std::uint8_t>(bytes);
  const std::size_t row = count(WorkMemoryMap::half_pitch(plan.width), plan.rows);
  map.volume = arena.take<std::uint16_t>(row * static_cast<std::size_t>(plan.planes));
  if (!plan.by_blocks() && plan.planes < shape.planes)
    map.scans = arena.take<WinnerScan>(count(WorkMemoryMap::float_pitch(plan.width), plan.rows));
  map.results = arena.take<float>(
      3 * count(WorkMemoryMap::float_pitch(plan.width), plan.by_blocks() ? plan.height : plan.rows));
  if (plan.paths)
    map.quantized =
        arena.take<std::uint8_t>(element_count({plan.width, plan.height, path_planes(shape.planes)}));
  if (plan.stored) map_stored(arena, shape, plan, map);
  map.end = arena.used();
  return map;
}

}  // namespace recon::cuda

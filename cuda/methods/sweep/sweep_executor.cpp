#include "cuda/methods/sweep/sweep_executor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/methods/sweep/patch_stages.hpp"
#include "match/patch.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon::cuda {
namespace {

/// Larger volumes are divided by rows even if they would fit: they are no faster.
constexpr std::size_t kMaxVolumeBytes = std::size_t{4} << 30;
/// The min number of planes stored at a time; fewer would leave most of the device idle.
constexpr int kMinPlanes = 8;
/// The max number of planes that the kernels of the semi-global optimizer have registers for.
constexpr int kMaxPathPlanes = 4096;

bool by_groups_of_rows(const SweepShape& shape) {
  return cost_storage(shape) == CostStorage::kNone;
}

bool has_paths(const SweepShape& shape) {
  return shape.optimizer == Optimizer::kSemiGlobal && !has_graph_cut(shape);
}

DeviceImages take_images(const SweepShape& shape, SourceStorage storage, Arena& arena) {
  DeviceImages images;
  images.storage = storage;
  images.take_reference(shape, arena);
  images.take_sources(shape, 0, shape.sources, arena);
  images.take_bytes(shape, arena);
  return images;
}

/// Divides a view, with a number of volumes of sums.
class Planner {
 public:
  Planner(const SweepShape& shape, std::size_t memory_limit, int sums)
      : shape_(shape),
        memory_limit_(memory_limit),
        sums_(sums),
        whole_(largest_block(blocks_of(shape))),
        tile_rows_(std::min(whole_.height, tile_height(shape.cost.kind, shape.cost.window / 2))) {}

  /// The largest pieces that fit; empty if none does.
  std::optional<SweepPlan> largest(SourceStorage storage) const {
    const int tiles = divided_up(whole_.height, tile_rows_);
    for (int pieces = 1; pieces <= tiles; ++pieces) {
      const int rows = std::min(whole_.height, divided_up(tiles, pieces) * tile_rows_);
      const SweepPlan plan = counted(storage, rows, shape_.planes);
      if (fits(plan)) return plan;
    }
    for (int planes = shape_.planes / 2; planes >= kMinPlanes; planes /= 2) {
      const SweepPlan plan = counted(storage, tile_rows_, planes);
      if (fits(plan)) return plan;
    }
    return {};
  }

  /// Of the smallest pieces that `largest` tries.
  std::size_t min_bytes() const {
    // Winners in ranges of planes need memory from one to the next: few planes take less in one range.
    int few = shape_.planes;
    while (few / 2 >= kMinPlanes) few /= 2;
    return std::min(counted(SourceStorage::kBytes, tile_rows_, few).bytes,
                    counted(SourceStorage::kBytes, tile_rows_, shape_.planes).bytes);
  }

 private:
  SweepPlan counted(SourceStorage storage, int rows, int planes) const {
    SweepPlan plan{storage, SourceStorage::kQuads, rows, planes, sums_};
    Tile size = whole_;
    if (by_groups_of_rows(shape_)) size.height = rows;
    plan.tiles = divided_up(whole_.height, rows) * divided_up(shape_.planes, planes);
    plan.bytes = bytes_taken([&](Arena& arena) {
      take_images(shape_, storage, arena);
      block_stages(shape_, plan, size, arena);
    });
    return plan;
  }

  bool fits(const SweepPlan& plan) const {
    const std::size_t volume = Volume<std::uint16_t>::bytes(whole_.width, plan.planes, plan.rows);
    const bool smallest = plan.rows == tile_rows_ && plan.planes < shape_.planes;
    return plan.bytes <= memory_limit_ && (volume <= kMaxVolumeBytes || smallest);
  }

  const SweepShape& shape_;
  const std::size_t memory_limit_;
  const int sums_;
  const Tile whole_;     ///< the view, or its largest block
  const int tile_rows_;  ///< the fewest rows processed at a time
};

/// The options that reduce the memory. Blocks do not shrink with the view, so only their stages matter.
std::string what_takes_less(const SweepShape& shape) {
  std::string what;
  if (has_paths(shape)) what += "; --optimizer winner takes less";
  if (shape.aggregation.kind != Aggregation::kNone) what += "; --aggregation none takes less";
  if (has_step(shape.refine, kNeedsCosts)) what += "; --refine none takes less";
  if (!by_groups_of_rows(shape)) what += "; --device cpu takes none";
  return what;
}

void check_options(const SweepShape& shape) {
  const CostOptions& options = shape.cost;
  if (!has_sweep_kernel(options.kind)) throw UsageError("a GPU does not have this --cost; --device cpu does");
  EXPECTS(shape.width >= 1 && shape.height >= 1 && shape.source_width >= 1 && shape.source_height >= 1);
  EXPECTS(shape.width <= kMaxImageSide && shape.height <= kMaxImageSide);
  EXPECTS(shape.source_width <= kMaxImageSide && shape.source_height <= kMaxImageSide);
  EXPECTS(shape.channels == 1 || (shape.channels == 3 && !correlates(options.kind)));
  EXPECTS(shape.sources >= 1 && shape.sources <= kMaxSources);
  EXPECTS(shape.planes >= 1 && shape.planes <= kMaxPlanes);
  EXPECTS(options.window >= kMinWindow && options.window <= kMaxWindow && options.window % 2 == 1);
  EXPECTS(options.best_k >= 1 && options.best_k <= kMaxBestK);
  if (has_paths(shape) && shape.planes > kMaxPathPlanes)
    throw UsageError("a view of " + std::to_string(shape.planes) +
                     " planes: a GPU follows paths over up to " + std::to_string(kMaxPathPlanes) +
                     "; lower --planes, or take --optimizer winner or --device cpu");
}

SweepPlan plan_blocks(const SweepShape& shape, std::size_t memory_limit,
                      std::optional<SourceStorage> storage) {
  check_options(shape);
  const int min_sums = has_paths(shape) ? 1 : 2;
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
                    " needs at least " + in_mebibytes(Planner(shape, memory_limit, min_sums).min_bytes()) +
                    " of GPU memory, " + in_mebibytes(memory_limit) +
                    " may be used; raise --gpu-memory-limit, or lower --max-image-size or --sources" +
                    what_takes_less(shape));
}

/// The plan of the coarsest level, with the memory of the patches.
SweepPlan plan_patches(const SweepShape& shape, std::size_t memory_limit,
                       std::optional<SourceStorage> storage) {
  SweepPlan plan = plan_blocks(coarsest_shape(shape), memory_limit, storage);
  std::size_t bytes = 0;
  for (const SourceStorage kind : {SourceStorage::kQuads, SourceStorage::kBytes}) {
    if (storage && *storage != kind) continue;
    plan.patch_storage = kind;
    bytes = bytes_taken([&](Arena& arena) { PatchStages(shape, kind, arena); });
    if (bytes > memory_limit) continue;
    plan.bytes = std::max(plan.bytes, bytes);
    return plan;
  }
  throw OutOfMemory("the patches of a view of " + std::to_string(shape.width) + "x" +
                    std::to_string(shape.height) + " with " + std::to_string(shape.sources) +
                    " sources need " + in_mebibytes(bytes) + " of GPU memory, " + in_mebibytes(memory_limit) +
                    " may be used; raise --gpu-memory-limit, or lower --max-image-size or --sources; "
                    "--refine none takes less");
}

/// The blocks of a view; where no costs are stored, groups of as many rows as the plan says.
std::vector<SweepBlock> planned_blocks(const SweepShape& shape, const SweepPlan& plan) {
  if (!by_groups_of_rows(shape)) return blocks_of(shape);
  std::vector<SweepBlock> groups;
  for (int row = 0; row < shape.height; row += plan.rows) {
    const Tile rows{0, row, shape.width, std::min(plan.rows, shape.height - row)};
    groups.push_back({rows, rows});
  }
  return groups;
}

void check_images(const SweepProblem& problem) {
  EXPECTS(!problem.sources.empty() && problem.sources.size() <= kMaxSources);
  const auto fits = [&](const PosedImage& image) {
    if (image.channels != problem.reference.channels) return false;
    for (int c = 0; c < image.channels; ++c) {
      const auto& channel = image.channel[static_cast<std::size_t>(c)];
      if (channel.width != image.camera.width || channel.height != image.camera.height) return false;
    }
    return true;
  };
  EXPECTS(fits(problem.reference));
  for (const PosedImage& source : problem.sources) EXPECTS(fits(source));
}

DepthEstimate sweep_all_blocks(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                               CachedSources& cached) {
  BlockExecutor executor(problem, plan, workspace, cached);
  DepthEstimate view =
      uninitialised_estimate(problem.reference.camera.width, problem.reference.camera.height);
  for (const SweepBlock& block : executor.blocks()) {
    executor.queue(block);
    executor.finish(block, view);
  }
  return view;
}

/// Queues the refinement of slanted patches.
/// @param put_depths  queues the copy of the depths of the coarsest level to rows that are `pitch` floats
/// apart
/// @return maps in the arena
template <class PutDepths>
DeviceEstimate queue_patches(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                             CachedSources& cached, const PutDepths& put_depths) {
  workspace.arena.reset(plan.bytes);
  const PatchStages stages(sweep_shape(problem), plan.patch_storage, workspace.arena);
  Staging& staging = workspace.staging;
  const PatchWeights weights(problem.patch_match.radius);
  const int table = 256 * patch_samples(problem.patch_match.radius);
  staging.upload(ImageView<const std::uint8_t>{weights.data(), table, 1, table}, stages.weights, table,
                 workspace.stream);
  put_depths(stages.depths);
  const Rgb8* colours =
      has_step(problem.refine, kNeedsColours) && problem.colours.data != nullptr ? stages.colours : nullptr;
  if (colours != nullptr) {
    const ImageView<const Rgb8>& from = problem.colours;
    EXPECTS(from.width == problem.reference.camera.width && from.height == problem.reference.camera.height);
    if (problem.reference.on_device)
      copy_on_device(from.data, from.pitch, stages.colours, from.width, from.width, from.height,
                     workspace.stream);
    else
      staging.upload(from, stages.colours, from.width, workspace.stream);
  }
  PatchStates states{};
  for (int level = static_cast<int>(problem.coarser.size()); level >= 0; --level) {
    const SweepImages& images = level == 0 ? problem : problem.coarser[static_cast<std::size_t>(level) - 1];
    const DeviceImages on_device = stages.images.uploaded(images, workspace, cached);
    LevelRun run{stages.args(problem, level, images, on_device, states), colours, workspace.stream};
    queue_all(stages.at_level(level), run);
    states = run.args.states;
  }
  return {
      {stages.results[0], stages.results[1], stages.results[2]}, states.pitch, states.width, states.height};
}

/// The same from depths on the host, to maps on the host.
DepthEstimate refine_patches(const SweepProblem& problem, const SweepPlan& plan,
                             const DepthEstimate& coarsest, Workspace& workspace, CachedSources& cached) {
  const DeviceEstimate found = queue_patches(problem, plan, workspace, cached, [&](float* to) {
    workspace.staging.upload(coarsest.depth.view(), to, padded_count<float>(coarsest.depth.width()),
                             workspace.stream);
  });
  DepthEstimate estimate = uninitialised_estimate(found.width, found.height);
  const float* const* result = found.maps;
  for (Image<float>* image : {&estimate.depth, &estimate.cost, &estimate.confidence})
    workspace.staging.download(*result++, found.pitch, image->view(), workspace.stream);
  return estimate;
}

}  // namespace

SweepPlan plan_sweep(const SweepShape& shape, std::size_t memory_limit,
                     std::optional<SourceStorage> storage) {
  check(shape, true);
  return has_patches(shape) ? plan_patches(shape, memory_limit, storage)
                            : plan_blocks(shape, memory_limit, storage);
}

BlockExecutor::BlockExecutor(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                             CachedSources& cached)
    : problem_(problem),
      plan_(plan),
      shape_(sweep_shape(problem)),
      workspace_(workspace),
      blocks_(planned_blocks(shape_, plan)) {
  check_images(problem);
  workspace.arena.reset(plan.bytes);
  images_ = take_images(shape_, plan.storage, workspace.arena).uploaded(problem, workspace, cached);
  images_end_ = workspace.arena.used();
}

void BlockExecutor::queue(const SweepBlock& block) {
  const Tile& outer = block.outer;
  const Tile view{0, 0, shape_.width, shape_.height};
  workspace_.arena.rewind(images_end_);
  stages_ = block_stages(shape_, plan_, outer, workspace_.arena);
  BlockRun run = by_groups_of_rows(shape_)
                     ? BlockRun{problem_, images_, view, outer.y, outer.y + outer.height, workspace_.stream}
                     : BlockRun{problem_, images_, outer, 0, outer.height, workspace_.stream};
  queue_all(stages_.stages, run);
  costs_ = run.costs;
}

void BlockExecutor::finish(const SweepBlock& block, DepthEstimate& view) {
  const Tile &outer = block.outer, &inner = block.inner;
  if (stages_.results != nullptr) {
    const std::ptrdiff_t pitch = padded_count<float>(outer.width);
    const float* result = stages_.results + (inner.y - outer.y) * pitch + (inner.x - outer.x);
    for (Image<float>* image : {&view.depth, &view.cost, &view.confidence}) {
      workspace_.staging.download(result, pitch,
                                  {image->row(inner.y) + inner.x, inner.width, inner.height, image->pitch()},
                                  workspace_.stream);
      result += pitch * outer.height;
    }
    return;
  }
  on_host(costs_, workspace_, workspace_.stream,
          [&](Volume<float> costs) { optimize_block(problem_, block, std::move(costs), view); });
}

void BlockExecutor::copy(const SweepBlock& block, const DeviceEstimate& view) {
  EXPECTS(stages_.results != nullptr);
  const Tile &outer = block.outer, &inner = block.inner;
  const std::ptrdiff_t pitch = padded_count<float>(outer.width);
  const float* result = stages_.results + (inner.y - outer.y) * pitch + (inner.x - outer.x);
  for (float* map : view.maps) {
    copy_on_device(result, pitch, map + inner.y * view.pitch + inner.x, view.pitch, inner.width, inner.height,
                   workspace_.stream);
    result += pitch * outer.height;
  }
}

DeviceEstimate queue_view(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                          const DeviceEstimate& swept) {
  CachedSources none(nullptr);
  const auto queue_blocks = [&](const SweepProblem& sweep) {
    BlockExecutor executor(sweep, plan, workspace, none);
    for (const SweepBlock& block : executor.blocks()) {
      executor.queue(block);
      executor.copy(block, swept);
    }
  };
  if (!has_patches(problem)) {
    queue_blocks(problem);
    return swept;
  }
  queue_blocks(coarsest_sweep(problem));
  return queue_patches(problem, plan, workspace, none, [&](float* to) {
    copy_on_device<float>(swept.maps[0], swept.pitch, to, padded_count<float>(swept.width), swept.width,
                          swept.height, workspace.stream);
  });
}

DepthEstimate sweep_view(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                         ImageCache* cache) {
  CachedSources cached(cache);
  if (!has_patches(problem)) return sweep_all_blocks(problem, plan, workspace, cached);
  return refine_patches(problem, plan, sweep_all_blocks(coarsest_sweep(problem), plan, workspace, cached),
                        workspace, cached);
}

}  // namespace recon::cuda

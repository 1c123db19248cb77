#include "cuda/methods/sweep/sweep_stream.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <utility>

#include "cuda/match/cross_arms.hpp"
#include "cuda/match/sweep.hpp"
#include "cuda/methods/sweep/edge_planes.hpp"
#include "match/patch.hpp"
#include "match/posed_image.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon::cuda {
namespace {

/// The max number of parts into which the planes of a launch are divided among thread blocks.
constexpr int kMaxParts = 64;

/// A source whose pixels are at `channel`.
DeviceSource source_of(const PosedImage& reference, const PosedImage& image, SourceStorage storage,
                       void* const (&channel)[3]) {
  const int width = image.camera.width;
  const std::ptrdiff_t pitch =
      storage == SourceStorage::kQuads ? WorkMemoryMap::quad_pitch(width) : WorkMemoryMap::byte_pitch(width);
  return {make_source_warp(reference.camera, reference.cam_from_world, image.camera, image.cam_from_world),
          width,
          image.camera.height,
          static_cast<int>(pitch),
          {channel[0], channel[1], channel[2]}};
}

/// @param part  of the reference
SweepArgs args_of(const SweepProblem& problem, const SweepPlan& plan, const WorkMemoryMap& map,
                  const Tile& part) {
  const PosedImage reference = cropped(problem.reference, part);
  SweepArgs args{};
  args.sources = static_cast<int>(problem.sources.size());
  args.storage = plan.storage;
  for (int s = 0; s < args.sources; ++s)
    args.source[s] =
        source_of(reference, problem.sources[static_cast<std::size_t>(s)], plan.storage, map.source[s]);
  args.reference_pitch = static_cast<int>(WorkMemoryMap::byte_pitch(problem.reference.camera.width));
  for (int c = 0; c < reference.channels; ++c)
    args.reference[c] = map.reference[c] + std::ptrdiff_t{part.y} * args.reference_pitch + part.x;
  args.width = part.width;
  args.height = part.height;
  args.planes = problem.planes;
  args.radius = problem.cost.window / 2;
  args.combination = problem.cost.combination;
  args.best_k = args.combination == Combination::kMinimum ? 1 : problem.cost.best_k;
  args.volume_pitch = WorkMemoryMap::half_pitch(args.width);
  args.volume = map.volume;
  return args;
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

}  // namespace

void SweepStream::upload(const SweepProblem& problem, const SweepPlan& plan) {
  check_images(problem);
  arena_.reset(plan.bytes);
  map_ = map_memory(arena_, sweep_shape(problem), plan);
  ASSERT(map_.end + plan.path_bytes <= plan.sweep_bytes);
  for (int c = 0; c < problem.reference.channels; ++c) upload_bytes(problem.reference, c, map_.reference[c]);
  for (std::size_t s = 0; s < problem.sources.size(); ++s)
    for (int c = 0; c < problem.sources[s].channels; ++c)
      upload_source(problem.sources[s], c, plan.storage, map_.upload, map_.source[s][c]);
}

void SweepStream::upload_bytes(const PosedImage& image, int c, std::uint8_t* device) {
  staging_.upload(image.channel[static_cast<std::size_t>(c)], device,
                  WorkMemoryMap::byte_pitch(image.camera.width), stream_);
}

/// Uploads a channel of a source into `memory`, by way of `bytes`; or, if the cache has or takes it, points
/// `memory` there.
void SweepStream::upload_source(const PosedImage& image, int c, SourceStorage storage, std::uint8_t* bytes,
                                void*& memory) {
  const int width = image.camera.width, height = image.camera.height;
  const bool quads = storage == SourceStorage::kQuads;
  const auto queue_upload = [&](void* to) {
    if (!quads) return upload_bytes(image, c, static_cast<std::uint8_t*>(to));
    upload_bytes(image, c, bytes);
    launch_quads(bytes, static_cast<int>(WorkMemoryMap::byte_pitch(width)), width, height,
                 static_cast<std::uint32_t*>(to), static_cast<int>(WorkMemoryMap::quad_pitch(width)),
                 stream_.get());
  };
  std::byte* kept = nullptr;
  if (cache_ != nullptr && image.id != 0) {
    const std::size_t size = quads ? element_count({WorkMemoryMap::quad_pitch(width), height, 4})
                                   : element_count({WorkMemoryMap::byte_pitch(width), height});
    kept = cache_->acquire({image.id, c, quads ? DeviceLayout::kQuads : DeviceLayout::kBytes}, size, stream_,
                           uses_, queue_upload);
  }
  if (kept == nullptr) return queue_upload(memory);
  memory = kept;
}

void SweepStream::queue_kernels(const SweepProblem& problem, const SweepPlan& plan, int row_begin,
                                const std::function<void(int plane_begin, int planes)>& stored) {
  const Pinhole& camera = problem.reference.camera;
  const SweepArgs args = args_of(problem, plan, map_, {0, 0, camera.width, camera.height});
  queue_planes(problem, plan, args, row_begin, [&](const BlockPiece& piece) {
    launch_piece_winners(map_.volume, args.volume_pitch, piece, args.width, problem.planes, map_.scans,
                         map_.results, WorkMemoryMap::float_pitch(args.width), stream_.get());
    if (stored) stored(piece.plane, piece.planes);
  });
}

void SweepStream::queue_planes(const SweepProblem& problem, const SweepPlan& plan, SweepArgs args, int row,
                               const std::function<void(const BlockPiece&)>& use) {
  const int planes = problem.planes.count, channels = problem.reference.channels;
  const int wave = blocks_per_wave(problem.cost, channels);
  args.row_begin = row;
  args.row_end = std::min(row + plan.rows, args.height);
  const int rows = args.row_end - row, tiles = tile_count(args.width, rows, problem.cost);
  for (int begin = 0; begin < planes; begin += plan.planes) {
    args.plane_begin = begin;
    args.plane_end = std::min(begin + plan.planes, planes);
    const int count = args.plane_end - begin;
    args.planes_per_block = planes_per_block(tiles, count, args.sources, wave, kMaxParts);
    launch_sweep(args, problem.cost, channels, stream_.get());
    use({row, rows, begin, count});
  }
}

void SweepStream::queue_pieces(const SweepProblem& problem, const SweepPlan& plan, const SweepArgs& args,
                               const std::function<void(const BlockPiece&)>& use) {
  for (int row = 0; row < args.height; row += plan.rows) queue_planes(problem, plan, args, row, use);
}

/// Stores the costs of a block (tile of a view) and aggregates them.
DeviceVolume SweepStream::queue_costs(const SweepProblem& problem, const SweepPlan& plan,
                                      const SweepArgs& args) {
  const int width = args.width, height = args.height;
  const DeviceVolume costs = device_volume(map_.costs, width, problem.planes.count, height);
  queue_pieces(problem, plan, args, [&](const BlockPiece& piece) {
    launch_block_costs(map_.volume, args.volume_pitch, piece, costs, stream_.get());
  });
  const AggregationOptions& by = problem.aggregation;
  if (map_.colours != nullptr) {
    const bool grey = problem.reference.channels == 1;
    launch_block_colours({args.reference[0], args.reference[grey ? 0 : 1], args.reference[grey ? 0 : 2]},
                         args.reference_pitch, width, height, map_.colours, stream_.get());
  }
  if (map_.arms != nullptr)
    queue_cross_arms({map_.colours, width, width, height}, by.cross, map_.arms, width, stream_.get());
  ColourImages colours;
  colours.reference = map_.colours;
  colours.pitch = width;
  CrossImages arms;
  arms.reference = map_.arms;
  arms.pitch = width;
  return queue_aggregation(colours, arms, by, max_cost(problem.cost), costs, map_.scratch, stream_.get());
}

void SweepStream::queue_paths(const SweepProblem& problem, const SweepPlan& plan, const SweepArgs& args,
                              const QuantizedCosts& quantized) {
  SemiGlobalInput input =
      path_input(args.width, args.height, problem.planes.count, plan.sums, problem.semi_global);
  input.costs = quantized.data;
  input.guide = args.reference[0];
  input.guide_pitch = args.reference_pitch;
  arena_.rewind(map_.end);
  const SemiGlobal paths(input, SemiGlobal::take(input, arena_));
  paths.queue(stream_);
  launch_path_depth(paths.winners(), quantized, cost_cap(problem.cost.kind), problem.planes, map_.results,
                    WorkMemoryMap::float_pitch(args.width), stream_.get());
}

DeviceVolume SweepStream::queue_block(const SweepProblem& problem, const SweepPlan& plan, const Tile& outer) {
  const SweepArgs args = args_of(problem, plan, map_, outer);
  const float cap = cost_cap(problem.cost.kind);
  QuantizedCosts quantized{};
  if (plan.paths) quantized = {map_.quantized, outer.width, outer.height, path_planes(problem.planes.count)};
  const std::ptrdiff_t pitch = WorkMemoryMap::float_pitch(outer.width);
  DeviceVolume costs;
  if (plan.stored) {
    costs = queue_costs(problem, plan, args);
    if (plan.paths) launch_quantized_costs(costs, quantized, cap, stream_.get());
  } else {
    queue_pieces(problem, plan, args, [&](const BlockPiece& piece) {
      launch_quantized_costs(map_.volume, args.volume_pitch, piece, quantized, cap, stream_.get());
    });
  }
  if (plan.paths)
    queue_paths(problem, plan, args, quantized);
  else if (!plan.on_host)
    launch_block_winners(costs, problem.planes, map_.results, pitch, stream_.get());
  if (problem.refine.edges && !plan.on_host)
    launch_block_edges(costs, problem.planes, map_.results, map_.depths, pitch, stream_.get());
  return costs;
}

DepthEstimate SweepStream::sweep(const SweepProblem& problem, const SweepPlan& plan) {
  const ImageCache::Release release(cache_, uses_);
  if (!plan.patches) return sweep_coarsest(problem, plan);
  return refine(problem, plan, sweep_coarsest(coarsest_sweep(problem), plan));
}

DepthEstimate SweepStream::sweep_coarsest(const SweepProblem& problem, const SweepPlan& plan) {
  upload(problem, plan);
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  DepthEstimate estimate = uninitialised_estimate(width, height);
  if (plan.by_blocks()) {
    for (const SweepBlock& block : blocks_of(sweep_shape(problem))) {
      const DeviceVolume costs = queue_block(problem, plan, block.outer);
      if (plan.on_host)
        finish_block(problem, block, costs, estimate);
      else
        download(block, estimate);
    }
    return estimate;
  }
  for (int begin = 0; begin < height; begin += plan.rows) {
    queue_kernels(problem, plan, begin);
    const Tile rows{0, begin, width, std::min(plan.rows, height - begin)};
    download({rows, rows}, estimate);
  }
  return estimate;
}

/// Downloads the results of a block's inner pixels.
void SweepStream::download(const SweepBlock& block, DepthEstimate& estimate) {
  const Tile &outer = block.outer, &inner = block.inner;
  const std::ptrdiff_t pitch = WorkMemoryMap::float_pitch(outer.width);
  const float* result = map_.results + std::ptrdiff_t{inner.y - outer.y} * pitch + (inner.x - outer.x);
  for (Image<float>* image : {&estimate.depth, &estimate.cost, &estimate.confidence}) {
    staging_.download(result, pitch,
                      {image->row(inner.y) + inner.x, inner.width, inner.height, image->pitch()}, stream_);
    result += pitch * outer.height;
  }
}

void SweepStream::finish_block(const SweepProblem& problem, const SweepBlock& block,
                               const DeviceVolume& costs, DepthEstimate& estimate) {
  Volume<float> found(costs.width, costs.planes, costs.height);
  const VolumeView<float> view = found.view();
  staging_.download(costs.data, costs.pitch,
                    {view.row(0, 0), costs.width, costs.planes * costs.height, view.pitch}, stream_);
  // In a separate arena: a loop that waits here must not start the sweep of another view, which would wait
  // for this concurrent stream.
  oneapi::tbb::task_arena host(host_threads_);
  host.execute([&] { optimize_block(problem, block, std::move(found), estimate); });
}

/// Uploads the images of a level.
PatchArgs SweepStream::upload_level(const SweepImages& images, const SweepPlan& plan, PatchMemory& memory) {
  PatchArgs args{};
  upload_bytes(images.reference, 0, memory.reference);
  args.reference = memory.reference;
  args.reference_pitch = static_cast<int>(WorkMemoryMap::byte_pitch(images.reference.camera.width));
  args.sources = static_cast<int>(images.sources.size());
  args.storage = plan.patch_storage;
  for (int s = 0; s < args.sources; ++s) {
    const PosedImage& image = images.sources[static_cast<std::size_t>(s)];
    void* channel[3] = {memory.source[s]};
    upload_source(image, 0, args.storage, memory.upload, channel[0]);
    args.source[s] = source_of(images.reference, image, args.storage, channel);
  }
  return args;
}

/// Queues the choice of the sources of all pixels, in bands of as many rows as `costs` has, with two more
/// rows on each side.
void SweepStream::queue_choice(PatchArgs args, int band_rows) {
  const int height = args.states.height, step = band_rows - 4;
  for (int begin = 0; begin < height; begin += step) {
    const int end = std::min(begin + step, height);
    args.row_begin = std::max(begin - 2, 0);
    args.rows = std::min(end + 2, height) - args.row_begin;
    launch_choose(args, begin, end, stream_.get());
  }
}

DepthEstimate SweepStream::refine(const SweepProblem& problem, const SweepPlan& plan,
                                  const DepthEstimate& coarsest) {
  const PatchMatchOptions& options = problem.patch_match;
  arena_.reset(plan.bytes);
  PatchMemory memory = map_patch_memory(arena_, sweep_shape(problem), plan.patch_storage);
  const PatchWeights weights(options.radius);
  const int table = 256 * patch_samples(options.radius);
  staging_.upload(ImageView<const std::uint8_t>{weights.data(), table, 1, table}, memory.weights, table,
                  stream_);
  const std::ptrdiff_t pitch = WorkMemoryMap::float_pitch(coarsest.depth.width());
  staging_.upload(coarsest.depth.view(), memory.depth, pitch, stream_);
  PatchStates coarse{};
  const auto queue_results = [&](const PatchArgs& args) {
    if (problem.refine.edges)
      launch_edge_depths(args, memory.inside, memory.results, stream_.get());
    else
      launch_patch_depths(args.states, memory.results, stream_.get());
  };
  for (std::size_t level = problem.coarser.size() + 1; level-- > 0;) {
    const SweepImages& images =
        level == 0 ? static_cast<const SweepImages&>(problem) : problem.coarser[level - 1];
    const int width = images.reference.camera.width, height = images.reference.camera.height;
    PatchArgs args = upload_level(images, plan, memory);
    args.weights = memory.weights;
    args.iteration = {patch_range(problem), options.radius, 0};
    args.best_k = options.best_k;
    args.states = {memory.states[level % 2], width, height, width};
    args.chosen = memory.chosen[level == 0 ? 0 : 1];
    args.coarse = coarse;
    args.coarse_chosen = memory.chosen[1];
    args.costs = memory.costs;
    if (coarse.data == nullptr)
      launch_first_planes(args, memory.depth, pitch, stream_.get());
    else
      launch_refine(args, stream_.get());
    const auto choose = [&] {
      queue_choice(args, memory.band_rows);
      launch_score(args, stream_.get());
    };
    choose();
    for (int& i = args.iteration.index; i < options.iterations; ++i) {
      if (i > 0) choose();
      for (const int colour : {0, 1}) launch_improve(args, colour, stream_.get());
    }
    if (level == 0 && problem.refine.prior) launch_supported_planes(args, memory.support, stream_.get());
    if (level == 0) queue_results(args);
    coarse = args.states;
  }
  DepthEstimate estimate = uninitialised_estimate(coarse.width, coarse.height);
  const float* const* result = memory.results;
  for (Image<float>* image : {&estimate.depth, &estimate.cost, &estimate.confidence})
    staging_.download(*result++, coarse.pitch, image->view(), stream_);
  return estimate;
}

}  // namespace recon::cuda

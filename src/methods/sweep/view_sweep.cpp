#include "methods/sweep/view_sweep.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "match/cpu_sweep.hpp"
#include "match/cross_arms.hpp"
#include "methods/sweep/block_stages.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "optimize/patch_match/edge_planes.hpp"
#include "optimize/patch_match/patch_match.hpp"
#include "optimize/patch_match/supported_planes.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon {
namespace {

/// Upper bound of one thread's rows, sums and winners for the largest tile and number of sources.
constexpr std::size_t kScratchBytes = std::size_t{2} << 20;
constexpr std::size_t kTableBytes = kHalfInfinityBits + 1;

/// The part of a view's result that a block gives.
struct BlockResult {
  const SweepBlock& block;
  DepthEstimate& view;

  /// Stores the result of pixel (x, y) of the block, unless it lies in the margin.
  void store(int x, int y, const WinnerDepth& result) const {
    const Tile &outer = block.outer, &inner = block.inner;
    const int column = outer.x + x, row = outer.y + y;
    if (column < inner.x || column >= inner.x + inner.width || row < inner.y || row >= inner.y + inner.height)
      return;
    view.depth(column, row) = result.depth;
    view.cost(column, row) = result.cost;
    view.confidence(column, row) = result.confidence;
  }
};

/// CostStorage::kNone: the winners of each tile.
void select_winners(const CpuSweep& sweep, const BlockResult& result) {
  sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> costs) {
    std::vector<Winner> winners(tile.width);
    for (int y = 0; y < tile.height; ++y) {
      winner_take_all(costs, y, winners.data());
      for (int x = 0; x < tile.width; ++x)
        result.store(tile.x + x, tile.y + y, winner_depth(winners[x], sweep.planes));
    }
  });
}

/// CostStorage::kBytes: the quantized costs of a block in the layout of SemiGlobalProblem::stored_costs.
class QuantizedVolume {
 public:
  explicit QuantizedVolume(const CpuSweep& sweep)
      : width_(sweep.reference.camera.width),
        planes_(sweep.planes.count),
        stride_(cost_stride(planes_)),
        costs_(element_count({stride_, width_, sweep.reference.camera.height})) {
    const float cap = cost_cap(sweep.cost.kind);
    std::vector<std::uint8_t> table(kTableBytes);  // by the bits of a half
    for (std::size_t bits = 0; bits < table.size(); ++bits)
      table[bits] = quantized_cost(to_float({static_cast<std::uint16_t>(bits)}), cap);
    sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> costs) { store(tile, costs, table); });
  }

  const std::uint8_t* data() const { return costs_.data(); }
  std::uint8_t at(int x, int y, int plane) const { return costs_.data()[offset(x, y) + plane]; }

  static std::size_t bytes(int width, int height, int planes) {
    return element_count({cost_stride(planes), width, height}) + kTableBytes;
  }

 private:
  /// Quantizes and transposes the costs of a tile, one row of a group of planes at a time, so that source and
  /// destination stay in the cache.
  void store(const Tile& tile, VolumeView<const Half> costs, const std::vector<std::uint8_t>& table) {
    constexpr int kGroup = 64;
    for (int y = 0; y < tile.height; ++y) {
      std::uint8_t* first = costs_.data() + offset(tile.x, tile.y + y);
      for (int begin = 0; begin < planes_; begin += kGroup) {
        for (int d = begin; d < std::min(begin + kGroup, planes_); ++d) {
          const Half* row = costs.row(y, d);
          for (int x = 0; x < tile.width; ++x) first[x * stride_ + d] = table[row[x].bits];
        }
      }
      for (int x = 0; x < tile.width; ++x)
        std::fill(first + x * stride_ + planes_, first + (x + 1) * stride_, std::uint8_t{255});
    }
  }

  std::ptrdiff_t offset(int x, int y) const { return (std::ptrdiff_t{y} * width_ + x) * stride_; }

  int width_, planes_;
  std::ptrdiff_t stride_;
  AlignedBuffer<std::uint8_t> costs_;
};

void select_by_paths(const SweepProblem& problem, const CpuSweep& sweep, const BlockResult& result) {
  const QuantizedVolume costs(sweep);
  SemiGlobalProblem paths;
  paths.stored_costs = costs.data();
  paths.guide = sweep.reference.channel[0];
  follow_paths(
      problem, paths, [&](int x, int y, int plane) { return costs.at(x, y, plane); },
      [&](int x, int y, int, const WinnerDepth& depth) { result.store(x, y, depth); });
}

/// CostStorage::kFloats.
Volume<float> float_costs(const CpuSweep& sweep) {
  Volume<float> costs(sweep.reference.camera.width, sweep.planes.count, sweep.reference.camera.height);
  sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> volume) {
    for (int y = 0; y < tile.height; ++y)
      for (int d = 0; d < volume.planes; ++d) {
        const Half* row = volume.row(y, d);
        float* out = costs.view().row(tile.y + y, d) + tile.x;
        for (int x = 0; x < tile.width; ++x) out[x] = to_float(row[x]);
      }
  });
  return costs;
}

Image<Rgb8> colours_of(const PosedImage& image) {
  Image<Rgb8> colours(image.camera.width, image.camera.height);
  const std::size_t green = image.channels == 3 ? 1 : 0, blue = image.channels == 3 ? 2 : 0;
  parallel_for(colours.height(), [&](int y) {
    for (int x = 0; x < colours.width(); ++x)
      colours(x, y) = {image.channel[0](x, y), image.channel[green](x, y), image.channel[blue](x, y)};
  });
  return colours;
}

Volume<float> aggregated_costs(const SweepProblem& problem, const CpuSweep& sweep) {
  const AggregationOptions& by = problem.aggregation;
  Volume<float> costs = float_costs(sweep);
  if (by.kind == Aggregation::kNone) return costs;
  const Image<Rgb8> colours = colours_of(sweep.reference);
  Image<Cross> arms;
  if (by.kind == Aggregation::kCrossBased) arms = cross_arms(colours.view(), by.cross);
  return aggregated(std::move(costs), {colours.view(), {}}, {arms.view(), {}}, by, max_cost(problem.cost));
}

/// Bytes of the costs of a block and of its stages.
std::size_t block_bytes(const SweepShape& shape, const Tile& block, int threads) {
  switch (cost_storage(shape)) {
    case CostStorage::kBytes:
      return QuantizedVolume::bytes(block.width, block.height, shape.planes) +
             semi_global_bytes(block.width, block.height, shape.planes, shape.semi_global,
                               kInvalidQuantizedCost, true, threads);
    case CostStorage::kFloats: {
      const std::size_t pixels = element_count({std::ptrdiff_t{block.width} + 64, block.height});
      const std::size_t aggregating =
          aggregation_bytes(block.width, block.height, shape.planes, shape.aggregation, threads);
      return pixels * (sizeof(Rgb8) + sizeof(Cross)) +
             Volume<float>::bytes(block.width, shape.planes, block.height) +
             std::max(aggregating, optimize_block_bytes(shape, block, threads));
    }
    default:
      return 0;
  }
}

SourceWarp warp_into(const SweepImages& images, const PosedImage& source) {
  return make_source_warp(images.reference.camera, images.reference.cam_from_world, source.camera,
                          source.cam_from_world);
}

PatchLevel patch_level(const SweepImages& images) {
  PatchLevel level;
  level.reference = images.reference.channel[0];
  level.sources.resize(images.sources.size());
  parallel_for(static_cast<int>(images.sources.size()), [&](int i) {
    const PosedImage& source = images.sources[i];
    level.sources[i] = {warp_into(images, source), SampledImage(source.channel[0])};
  });
  return level;
}

DepthEstimate depth_estimate(ImageView<const PatchState> states) {
  DepthEstimate result = uninitialised_estimate(states.width, states.height);
  parallel_for(states.height, [&](int y) {
    for (int x = 0; x < states.width; ++x) {
      const WinnerDepth pixel = patch_depth(states(x, y));
      result.depth(x, y) = pixel.depth;
      result.cost(x, y) = pixel.cost;
      result.confidence(x, y) = pixel.confidence;
    }
  });
  return result;
}

/// Gives pixels of weak texture the planes that their surroundings support, if the stages have that.
void fill_weak_texture(const SweepProblem& problem, ImageView<PatchState> states) {
  if (!problem.refine.prior) return;
  std::vector<WarpedImage> sources;
  for (const PosedImage& source : problem.sources)
    sources.push_back({warp_into(problem, source), source.channel[0]});
  fill_supported_planes(states, problem.reference.channel[0], sources, patch_range(problem));
}

/// Refines the depths of the coarsest level.
DepthEstimate refine_patches(const SweepProblem& problem, const DepthEstimate& coarsest) {
  const int halvings = static_cast<int>(problem.coarser.size());
  std::optional<PatchLevel> level;
  const auto level_at = [&](int l) -> const PatchLevel& {
    level.reset();
    return level.emplace(patch_level(l < halvings ? problem.coarser[halvings - 1 - l] : problem));
  };
  Image<PatchState> states =
      patch_match(halvings + 1, level_at, coarsest.depth.view(), patch_range(problem), problem.patch_match);
  level.reset();
  fill_weak_texture(problem, states.view());
  if (problem.refine.edges)
    states = with_moved_edges(states.view(), problem.reference.channel[0], patch_range(problem));
  return depth_estimate(std::as_const(states).view());
}

/// Bytes of refine_patches with its result, without the images of the caller.
std::size_t refine_patches_bytes(const SweepShape& shape, int threads) {
  const std::size_t sampled =
      static_cast<std::size_t>(shape.sources) * SampledImage::bytes(shape.source_width, shape.source_height);
  const auto results = [](const SweepShape& size) {
    return element_count({3, padded_count<float>(size.width), size.height, sizeof(float)});
  };
  const std::size_t states =
      element_count({padded_count<PatchState>(shape.width), shape.height, sizeof(PatchState)});
  const std::size_t prior = shape.refine.prior ? supported_planes_bytes(shape.width, shape.height) : 0;
  const std::size_t edges = shape.refine.edges ? moved_edges_bytes(shape.width, shape.height) : 0;
  return results(coarsest_shape(shape)) +
         std::max(sampled + patch_match_bytes(shape.width, shape.height, shape.sources, threads),
                  states + std::max({results(shape), prior, edges}));
}

}  // namespace

DepthEstimate sweep_view(const SweepProblem& problem) {
  check(problem, true);
  if (problem.refine.patches) return refine_patches(problem, sweep_view(coarsest_sweep(problem)));
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  CpuSweep sweep = prepare_cpu_sweep(problem.reference, problem.sources, problem.planes, problem.cost);
  DepthEstimate view = uninitialised_estimate(width, height);
  for (const SweepBlock& block : blocks_of(sweep_shape(problem))) {
    change_reference(sweep, cropped(problem.reference, block.outer), problem.sources);
    const BlockResult result{block, view};
    switch (cost_storage(problem)) {
      case CostStorage::kNone:
        select_winners(sweep, result);
        break;
      case CostStorage::kBytes:
        select_by_paths(problem, sweep, result);
        break;
      case CostStorage::kFloats:
        optimize_block(problem, block, aggregated_costs(problem, sweep), view);
        break;
    }
  }
  return view;
}

std::size_t sweep_view_bytes(const SweepShape& shape, int threads) {
  if (shape.refine.patches)
    return std::max(sweep_view_bytes(coarsest_shape(shape), threads), refine_patches_bytes(shape, threads));
  const std::size_t images = static_cast<std::size_t>(shape.sources * shape.channels) *
                             SampledImage::bytes(shape.source_width, shape.source_height);
  const std::size_t results =
      element_count({3, padded_count<float>(shape.width), shape.height, sizeof(float)});
  const TileSize tile = sweep_tile_size(shape.width, shape.height, shape.planes, shape.cost.window);
  return images + results + static_cast<std::size_t>(threads) * (tile.volume_bytes + kScratchBytes) +
         block_bytes(shape, largest_block(blocks_of(shape)), threads);
}

}  // namespace recon

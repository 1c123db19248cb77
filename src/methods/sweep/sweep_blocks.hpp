#pragma once

#include <cstddef>
#include <vector>

#include "match/cpu_sweep.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/depth_step.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon {

/// A block of a view that is processed independently: paths start at the borders of
/// `outer`, results are kept for `inner`.
struct SweepBlock {
  Tile outer, inner;
};

/// Margin of a block around its results inside the view, pixels.
inline constexpr int kBlockMargin = 32;

/// How the costs of a block are stored.
enum class CostStorage {
  kNone,    ///< not at all: winners are selected tile by tile
  kBytes,   ///< quantized, for the semi-global optimizer
  kFloats,  ///< for the stages that need a volume
};

constexpr CostStorage cost_storage(SweepOptimizer optimizer, const SweepStages& stages) {
  if (needs_volume(optimizer, stages)) return CostStorage::kFloats;
  return optimizer == SweepOptimizer::kSemiGlobal ? CostStorage::kBytes : CostStorage::kNone;
}

/// Divides a view into blocks whose costs fit, with the fewest samples in total. Part of the definition
/// of the result: it depends on the size of the view and the number of planes, not on the memory of the
/// machine. Blocks are in row-major order.
/// @param width, height  1 .. kMaxImageSide
/// @param planes         1 .. kMaxPlanes
/// @param block_bytes    max bytes of a block's costs; at least one pixel with its margins must fit
std::vector<SweepBlock> sweep_blocks(int width, int height, int planes, std::size_t block_bytes);

/// The same for CostStorage::kFloats, so that a block has a quarter of the samples. A pixel with its margins
/// always fits.
std::vector<SweepBlock> volume_blocks(int width, int height, int planes, const SweepPaths& paths);

/// The blocks of a sweep of this shape; a single one if no costs are stored.
std::vector<SweepBlock> blocks_of(const SweepShape& shape);

/// The largest width and height of the blocks' `outer`.
Tile largest_block(const std::vector<SweepBlock>& blocks);

/// The reference cropped to `tile`, with the principal point shifted accordingly.
PosedImage cropped(const PosedImage& image, const Tile& tile);

/// The part of a view's result that a block gives.
class BlockResult {
 public:
  BlockResult(const SweepBlock& block, DepthEstimate& view) : block_(block), view_(view) {}

  /// Stores the result of pixel (x, y) of the block, unless it lies in the margin.
  void store(int x, int y, const WinnerDepth& result) const;

 private:
  const SweepBlock& block_;
  DepthEstimate& view_;
};

/// Copies the results of a block's inner pixels to the view.
void keep_inner(const SweepBlock& block, const DepthEstimate& from, DepthEstimate& to);

/// Selects the planes of a block by semi-global matching over its quantized costs. Source: H. Hirschmueller,
/// TPAMI 2008.
/// @param paths      the costs and the guide
/// @param quantized  quantized(x, y, plane): the cost of a sample
/// @param store      store(x, y, plane, depth): receives the result of a pixel; plane is -1 where no source
///                   sees it. Called concurrently.
template <class Quantized, class Store>
void follow_paths(const SweepProblem& problem, SemiGlobalProblem paths, const Quantized& quantized,
                  const Store& store) {
  const float cap = cost_cap(problem.options.cost);
  paths.max_cost = kInvalidQuantizedCost;
  paths.planes = problem.planes.count;
  paths.options = problem.paths.penalties;
  semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t*) {
    for (int x = 0; x < paths.guide.width; ++x) {
      const int plane = winners[x].plane;
      const std::uint8_t cost = quantized(x, y, plane);
      store(x, y, cost < kInvalidQuantizedCost ? plane : -1,
            semi_global_depth(winners[x], cost, cap, problem.planes));
    }
  });
}

/// Runs the stages after aggregation on a block whose costs are stored: the optimizer and, if enabled, the
/// graph cut and the adjustment of edges. After a graph cut, sub-plane depths come from the parabola through
/// the costs, and the confidence is the uniqueness of the label's energy, given the labels of the neighbours.
/// Runs on the threads of the surrounding task arena.
/// @param problem    defines the stages and the planes
/// @param reference  the problem's reference, cropped to the block
/// @param costs      (y, d, x) of the block; +infinity: no cost
/// @throws OutOfMemory
DepthEstimate optimized_block(const SweepProblem& problem, const PosedImage& reference, Volume<float> costs);

/// Bytes that optimized_block uses, including its result, excluding the costs.
/// @param block  size of the block
std::size_t optimized_block_bytes(const SweepShape& shape, const Tile& block, int threads);

}  // namespace recon

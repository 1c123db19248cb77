#pragma once

#include <cstddef>
#include <vector>

#include "match/cpu_sweep.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/winner_depth.hpp"

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

}  // namespace recon

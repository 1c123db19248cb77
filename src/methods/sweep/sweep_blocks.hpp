#pragma once

#include <cstddef>
#include <vector>

#include "match/cpu_sweep.hpp"
#include "methods/backend.hpp"

namespace recon {

/// A block of a view that the semi-global optimizer processes independently: paths start at the borders of
/// `outer`, results are kept for `inner`.
struct SweepBlock {
  Tile outer, inner;
};

/// Margin of a block around its results inside the view, pixels.
inline constexpr int kBlockMargin = 32;

/// Bytes from the costs of one pixel to those of the next.
constexpr int code_stride(int planes) {
  return (planes + 63) / 64 * 64;
}

/// Divides a view into blocks whose costs fit, with the fewest samples in total. Part of the definition
/// of the result: it depends on the size of the view and the number of planes, not on the memory of the
/// machine. Blocks are in row-major order.
/// @param width, height  1 .. kMaxImageSide
/// @param planes         1 .. kMaxPlanes
/// @param block_bytes    max bytes of a block's costs; at least one pixel with its margins must fit
std::vector<SweepBlock> sweep_blocks(int width, int height, int planes, std::size_t block_bytes);

/// The same for stages that need float costs (see volume_sweep), so that a block has a quarter of the
/// samples. A pixel with its margins always fits.
std::vector<SweepBlock> volume_blocks(int width, int height, int planes, const SweepPaths& paths);

/// The blocks of a sweep of this shape if its costs are stored: for stages that need them, otherwise for the
/// semi-global optimizer.
std::vector<SweepBlock> blocks_of(const SweepShape& shape);

/// The largest width and height of the blocks' `outer`.
Tile largest_block(const std::vector<SweepBlock>& blocks);

/// The reference cropped to `tile`, with the principal point shifted accordingly.
PosedImage cropped(const PosedImage& image, const Tile& tile);

}  // namespace recon

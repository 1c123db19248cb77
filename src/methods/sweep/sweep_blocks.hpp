#pragma once

#include <cstddef>
#include <vector>

#include "match/cpu_sweep.hpp"
#include "methods/backend.hpp"

namespace recon {

/// A piece of a view that the semi-global optimizer works on by itself: paths begin at the borders of
/// `outer`, results are kept of `inner`.
struct SweepBlock {
  Tile outer, inner;
};

/// Pixels that a block reaches over its results, where the view goes on.
inline constexpr int kBlockMargin = 32;

/// Bytes from the costs of one pixel to those of the next.
constexpr int code_stride(int planes) {
  return (planes + 63) / 64 * 64;
}

/// Cuts a view into the blocks with the fewest samples in all whose costs fit. Part of the
/// definition of the result: it depends on the size of the view and the number of planes, not on the memory
/// of the machine. Row by row, left to right.
/// @param width, height  1 .. kMaxImageSide
/// @param planes         1 .. kMaxPlanes
/// @param block_bytes    most bytes of a block's costs, room for at least one pixel with its margins
std::vector<SweepBlock> sweep_blocks(int width, int height, int planes, std::size_t block_bytes);

/// The same where stages need costs as floats (see volume_sweep), of which a block has a fourth as many. A
/// pixel with its margins always fits.
std::vector<SweepBlock> volume_blocks(int width, int height, int planes, const SweepPaths& paths);

/// The blocks that a sweep of this shape is done in, if its costs are kept: for stages that need them, else
/// for the semi-global optimizer.
std::vector<SweepBlock> blocks_of(const SweepShape& shape);

/// The largest width and height of the blocks' `outer`.
Tile largest_block(const std::vector<SweepBlock>& blocks);

/// The reference reduced to the pixels of `tile`; its camera's principal point moves with it.
PosedImage cropped(const PosedImage& image, const Tile& tile);

}  // namespace recon

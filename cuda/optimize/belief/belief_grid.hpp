#pragma once

#include <cstddef>
#include <vector>

#include "core/hd.hpp"
#include "optimize/belief/belief_layout.hpp"

namespace recon::cuda {

/// Pixels of one parity that a warp takes side by side.
inline constexpr int kBeliefGroup = 32;

/// One level on the device, in elements of the arena. As on the CPU the disparities of a row's pixels of one
/// parity follow each other, x fastest; but in groups of 32 pixels, so that the way from one disparity to the
/// next is known at compile time and what a warp reads of a message is one piece.
struct BeliefGrid {
  int width = 0, height = 0;
  int groups = 0;  ///< of a row's pixels of one parity
  int strip = 0;   ///< elements of a group: disparities times 32
  std::ptrdiff_t costs = 0;
  std::ptrdiff_t messages[kMessageCount] = {};

  /// Elements of the costs, or of the messages in one direction.
  RECON_HD std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(strip) * groups * 2 * height; }
  /// Of the lowest disparity of pixel (x, y), from the begin of costs or messages; the next follows 32
  /// behind. Groups are counted in 32 bits and columns without sign: a GPU divides and multiplies these
  /// faster, and this stands before every read.
  RECON_HD std::ptrdiff_t offset(int x, int y) const {
    const unsigned column = static_cast<unsigned>(x >> 1);
    const int group = (2 * y + ((x + y) & 1)) * groups + static_cast<int>(column / kBeliefGroup);
    return static_cast<std::ptrdiff_t>(group) * strip + static_cast<int>(column % kBeliefGroup);
  }
};

/// All levels in one arena, level 0 the finest, and before them a group of zeros: what arrives from outside.
struct BeliefGrids {
  std::vector<BeliefGrid> levels;
  std::ptrdiff_t elements = 0;
};

/// @throws OutOfMemory when the arena is larger than any memory
BeliefGrids belief_grids(const BeliefShape& shape, const BeliefOptions& options);

}  // namespace recon::cuda

#pragma once

#include <cstddef>
#include <vector>

#include "core/hd.hpp"
#include "optimize/belief/belief_layout.hpp"

namespace recon::cuda {

/// Neighbouring pixels of one parity per warp.
inline constexpr int kBeliefGroup = 32;

/// One level on the device, in elements of the arena. As on the CPU, the disparities of a row's pixels of one
/// parity are consecutive, x fastest; but in groups of 32 pixels, so that the stride between disparities is
/// known at compile time and the part of a message that a warp reads is contiguous.
struct BeliefGrid {
  int width = 0, height = 0;
  int groups = 0;  ///< per row and parity
  int strip = 0;   ///< elements per group: disparities times 32
  std::ptrdiff_t costs = 0;
  std::ptrdiff_t messages[kMessageCount] = {};

  /// Elements of the costs, or of the messages in one direction.
  RECON_HD std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(strip) * groups * 2 * height; }
  /// Offset of the lowest disparity of pixel (x, y) from the start of costs or messages; the stride to the
  /// next one is 32. 32-bit groups and unsigned columns make the division and multiplication before every
  /// read faster on a GPU.
  RECON_HD std::ptrdiff_t offset(int x, int y) const {
    const unsigned column = static_cast<unsigned>(x >> 1);
    const int group = (2 * y + ((x + y) & 1)) * groups + static_cast<int>(column / kBeliefGroup);
    return static_cast<std::ptrdiff_t>(group) * strip + static_cast<int>(column % kBeliefGroup);
  }
};

/// All levels in one arena, level 0 the finest, preceded by a group of zeros: the messages from outside the
/// image.
struct BeliefGrids {
  std::vector<BeliefGrid> levels;
  std::ptrdiff_t elements = 0;
};

/// @throws OutOfMemory if the size of the arena overflows
BeliefGrids belief_grids(const BeliefShape& shape, const BeliefOptions& options);

}  // namespace recon::cuda

#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "optimize/semi_global_options.hpp"

namespace recon::cuda {

/// What all kernels of the optimizer know of the problem.
struct PathArgs {
  const std::uint8_t* costs;  ///< by (y, x, d), pixels padded_planes(planes) bytes apart
  const std::uint8_t* guide;
  std::ptrdiff_t guide_pitch;
  int width, height, planes;
  SemiGlobalOptions options;
};

/// The costs of the paths along the rows, a byte or two a plane, see PathShape.
struct RowPaths {
  uint4* rightward;
  uint4* leftward;
  bool bytes;
};

/// One half of the paths that go up or down: each pixel is met by a sweep from above and by one from below,
/// which start together and meet in the middle. In the first half each stores its sum; in the second it adds
/// what the other one stored, and the paths along the rows.
struct SweepArgs {
  bool second_half;
  int rows_down, rows_up;  ///< of the two sweeps, in this half
  RowPaths row_paths;      ///< read in the second half
  uint4* sums;             ///< S, by pixel
  uint4* states;           ///< what the first half hands to the second: by (sweep, direction, x), slots
  /// What a strip hands to the next: by (sweep, strip, row), three pixels; all bits 0 before and after.
  uint4* borders;
  int border_rows;    ///< rows of a sweep, at most
  int strips;         ///< of a sweep, at most
  unsigned* tickets;  ///< by sweep: the next strip; 0 before
};

}  // namespace recon::cuda

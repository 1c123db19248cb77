#pragma once

#include <cstdint>

#include "cuda/aggregate/cross_passes.hpp"

/// A thread block moves down a strip of columns of one plane, four rows per step, with warps of two kinds.
/// Row warps compute the prefix sums of the rows of the next step in shared memory, in whole units. Column
/// warps, one thread per column, take the sums along the horizontal arms from the prefix sums of the last
/// step, sum them down their column, and keep as many of these prefix sums as vertical arms span, for the
/// means. Sums wrap around; their differences do not.

namespace recon::cuda::strips {

inline constexpr int kStep = 4;      ///< rows
inline constexpr int kRowWarps = 2;  ///< warps that sum rows
inline constexpr int kTurns = 2;     ///< number of buffers: of prefetched rows, and of their sums
inline constexpr int kRowThreads = 32 * kRowWarps;
inline constexpr int kEach = 8;           ///< neighbouring costs of a row per lane
inline constexpr int kLine = 32 * kEach;  ///< costs of a row per warp
inline constexpr int kAligned = 4;        ///< strips begin at multiples of this

/// Prefix sums of the rows in shared memory; each is over the columns before its own.
struct RowLines {
  std::uint32_t sums[kTurns][kStep][kLine];
  std::uint8_t counts[kTurns][kStep][kLine];  ///< of finite costs; for rows with gaps
  std::uint8_t gaps[kTurns][kStep];           ///< whether a row has any

  /// Gap flags of all rows of a step.
  __device__ std::uint32_t gaps_of(int turn) const {
    static_assert(kStep == 4, "a word");
    return *reinterpret_cast<const std::uint32_t*>(gaps[turn]);
  }
};

/// `size` rounded up to a multiple of `step`.
RECON_HD constexpr int rounded_up(int size, int step) {
  return (size + step - 1) / step * step;
}

/// Rows from a summed row to the last one whose support is complete: whole steps.
RECON_HD constexpr int delay_of(int longest) {
  return rounded_up(longest, kStep);
}

/// Costs of a line to the left of the strip.
RECON_HD constexpr int margin_of(int longest) {
  return rounded_up(longest, kAligned);
}

struct StripGrid {
  StripPass pass;
  int columns;    ///< per strip
  int rows;       ///< per band, a multiple of kStep
  unsigned ring;  ///< bytes of the stored sums
};

/// Position of a thread block.
struct Strip {
  int first_x, d;
  int begin, end;  ///< rows of the means
  int top;         ///< the first row that is summed
  int steps;

  __device__ explicit Strip(const StripGrid& grid)
      : first_x(static_cast<int>(blockIdx.x) * grid.columns),
        d(static_cast<int>(blockIdx.y)),
        begin(static_cast<int>(blockIdx.z) * grid.rows),
        end(min(begin + grid.rows, grid.pass.costs.height)) {
    const int delay = delay_of(grid.pass.arms.longest);
    top = max(0, begin - delay);
    steps = (end - top + delay + kStep - 1) / kStep;
  }
};

}  // namespace recon::cuda::strips

#pragma once

#include <cstdint>

#include "cuda/aggregate/cross_passes.hpp"

/// A thread block goes down a strip of columns of one plane, four rows a step, with warps of two kinds. A few
/// add up the rows of the next step, whole numbers of units: prefix sums, in shared memory. The others, a
/// thread a column, take the sums along the horizontal arms from those of the last step, add them up down
/// their column, and keep as many of these prefix sums as vertical arms reach over, for the means. Sums wrap
/// around; their differences do not.

namespace recon::cuda::strips {

inline constexpr int kStep = 4;      ///< rows
inline constexpr int kRowWarps = 2;  ///< that add up rows
inline constexpr int kTurns = 2;     ///< of buffers: of rows that are read ahead, and of their sums
inline constexpr int kRowThreads = 32 * kRowWarps;
inline constexpr int kEach = 8;           ///< neighbouring costs of a row that a lane adds up
inline constexpr int kLine = 32 * kEach;  ///< costs of a row that a warp adds up
inline constexpr int kAligned = 4;        ///< strips begin at multiples of this

/// Where the sums of rows lie in shared memory: each is over the columns before.
struct RowLines {
  std::uint32_t sums[kTurns][kStep][kLine];
  std::uint8_t counts[kTurns][kStep][kLine];  ///< of finite costs; of rows with gaps
  std::uint8_t gaps[kTurns][kStep];           ///< whether a row has any

  /// Of the rows of a step at once.
  __device__ std::uint32_t gaps_of(int turn) const {
    static_assert(kStep == 4, "a word");
    return *reinterpret_cast<const std::uint32_t*>(gaps[turn]);
  }
};

/// The least multiple of `step` that is not below `size`.
RECON_HD constexpr int rounded_up(int size, int step) {
  return (size + step - 1) / step * step;
}

/// Rows between one that is added up and one whose supports are complete then: whole steps.
RECON_HD constexpr int delay_of(int longest) {
  return rounded_up(longest, kStep);
}

/// Costs of a line to the left of the strip's.
RECON_HD constexpr int margin_of(int longest) {
  return rounded_up(longest, kAligned);
}

struct StripGrid {
  StripPass pass;
  int columns;    ///< of a strip
  int rows;       ///< of a band, a multiple of kStep
  unsigned ring;  ///< bytes of the kept sums
};

/// What holds for a thread block.
struct Strip {
  int first_x, d;
  int begin, end;  ///< rows of the means
  int top;         ///< the first row that is added up
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

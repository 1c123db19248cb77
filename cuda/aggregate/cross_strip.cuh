#pragma once

#include <cstdint>

#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/device/grid.hpp"

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
    steps = divided_up(end - top + delay, kStep);
  }
};

// Destinations of the means of a strip.

/// Stores means without transposition.
class RowStore {
 public:
  __device__ RowStore(const StripGrid& grid, const Strip& strip, int column, unsigned) : end_(strip.end) {
    const DeviceVolume& means = grid.pass.means;
    const int x = strip.first_x + column;
    if (column >= grid.columns || x >= means.width) end_ = 0;
    row_step_ = means.planes * means.pitch;
    to_ = means.row(strip.begin, strip.d) + x;
  }

  __device__ __forceinline__ void operator()(int first, const float (&means)[kStep]) {
    if (first + kStep <= end_) {
#pragma unroll
      for (int i = 0; i < kStep; ++i) to_[i * row_step_] = means[i];
    } else {
#pragma unroll
      for (int i = 0; i < kStep; ++i)
        if (first + i < end_) to_[i * row_step_] = means[i];
    }
    to_ += kStep * row_step_;
  }

 private:
  int end_;
  std::ptrdiff_t row_step_;
  float* to_;
};

/// Stores means transposed: a warp collects the means of a few steps in shared memory and writes them 64
/// bytes at a time.
class TransposedStore {
 public:
  static constexpr int kSteps = 4, kRows = kSteps * kStep;  ///< rows that are collected
  static constexpr unsigned kPitch = (kRows + 4) * sizeof(float);
  static constexpr unsigned kWarpBytes = 32 * kPitch;

  /// @param tiles  start of the tiles of all warps
  __device__ TransposedStore(const StripGrid& grid, const Strip& strip, int column, unsigned tiles)
      : end_(strip.end), lane_(column % 32), tile_(tiles + static_cast<unsigned>(column / 32) * kWarpBytes) {
    const DeviceVolume& means = grid.pass.means;
    const int first_x = strip.first_x + column - lane_ + lane_ / kSteps;
    left_ = min(strip.first_x + grid.columns, means.height) - first_x;
    column_step_ = means.planes * means.pitch;
    to_ = means.row(0, strip.d) + first_x * column_step_ + strip.begin + kStep * (lane_ % kSteps);
  }

  __device__ __forceinline__ void operator()(int first, const float (&means)[kStep]) {
    store_floats(tile_ + static_cast<unsigned>(lane_) * kPitch + collected_ * kStep * sizeof(float), means);
    if (++collected_ < kSteps && first + kStep < end_) return;
    write(first - static_cast<int>(collected_ - 1) * kStep);
    collected_ = 0;
  }

 private:
  static __device__ __forceinline__ void store_floats(unsigned to, const float (&floats)[kStep]) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(floats[0]), "f"(floats[1]),
                 "f"(floats[2]), "f"(floats[3])
                 : "memory");
  }
  static __device__ __forceinline__ float4 load_floats(unsigned from) {
    float4 floats;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(floats.x), "=f"(floats.y), "=f"(floats.z), "=f"(floats.w)
                 : "r"(from)
                 : "memory");
    return floats;
  }

  /// Writes the collected rows, the first of which is `first`: kSteps lanes per column.
  __device__ __forceinline__ void write(int first) {
    constexpr int kAtOnce = 32 / kSteps;  // columns
    const auto part = static_cast<unsigned>(lane_ % kSteps), column = static_cast<unsigned>(lane_ / kSteps);
    const int rows = min(kStep, end_ - first - static_cast<int>(part) * kStep);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kSteps; ++j) {
      const float4 means =
          load_floats(tile_ + (column + kAtOnce * j) * kPitch + part * kStep * sizeof(float));
      float* to = to_ + kAtOnce * j * column_step_;
      if (kAtOnce * j >= left_) continue;
      if (rows == kStep) {
        *reinterpret_cast<float4*>(to) = means;
      } else {
        if (rows > 0) to[0] = means.x;
        if (rows > 1) to[1] = means.y;
        if (rows > 2) to[2] = means.z;
      }
    }
    __syncwarp();
    to_ += kRows;
  }

  int end_, lane_, left_;  ///< columns from the lane's first one on
  unsigned tile_, collected_ = 0;
  std::ptrdiff_t column_step_;
  float* to_;
};

}  // namespace recon::cuda::strips

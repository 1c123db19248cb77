#pragma once

#include "cuda/aggregate/cross_strip.cuh"

/// Destinations of the means of a strip.

namespace recon::cuda::strips {

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

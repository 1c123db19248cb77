#pragma once

#include <cstdint>

#include "cuda/optimize/scanline/scanline.hpp"
#include "optimize/scanline/scanline_step.hpp"

/// Shared by the paths along rows and along columns.

namespace recon::cuda {

/// Value of a byte for a step of the source: no edge (0), an edge (1), or step not visible.
inline constexpr int kUnseenStep = 2;

/// P1 and P2 by the edges that a step crosses: entry 3 edge + matched, see kUnseenStep.
struct ScanlineTable {
  float2 penalties[6];

  __device__ ScanlinePenalties operator()(int entry) const {
    const float2 both = penalties[entry];
    return {both.x, both.y};
  }
};

struct ScanlineArgs {
  DeviceVolume costs, mean;
  ScanlineEdges edges;
  ScanlineTable penalties;
};

/// The min of a warp's values, none of which is negative.
__device__ inline float min_of_warp(float value) {
#if __CUDA_ARCH__ >= 800
  return __uint_as_float(__reduce_min_sync(0xFFFFFFFFu, __float_as_uint(value)));
#else
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const float other = __shfl_xor_sync(0xFFFFFFFFu, value, lanes);
    value = other < value ? other : value;
  }
  return value;
#endif
}

/// The paths along all rows, to the right, then to the left: the first two summands.
void launch_scanline_rows(const ScanlineArgs& args, cudaStream_t stream);

/// The paths down, then up all columns: they complete the sum and convert it to the mean.
void launch_scanline_columns(const ScanlineArgs& args, cudaStream_t stream);

}  // namespace recon::cuda

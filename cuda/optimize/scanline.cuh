#pragma once

#include <cstdint>

#include "cuda/optimize/scanline.hpp"
#include "optimize/scanline_step.hpp"

/// What the paths along rows and along columns share.

namespace recon::cuda {

/// P1 and P2 by the number of edges that a step crosses: none, one, or one in each view.
struct ScanlineTable {
  ScanlinePenalties by_edges[3];

  __device__ ScanlinePenalties operator()(int edges) const {
    return edges == 0 ? by_edges[0] : (edges == 1 ? by_edges[1] : by_edges[2]);
  }
};

struct ScanlineArgs {
  DeviceVolume costs, mean;
  ScanlineEdges edges;
  ScanlineTable penalties;
};

/// The least of a warp's values, none of which is negative.
__device__ inline float least_of_warp(float value) {
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

/// The paths along all rows, to the right, then to the left, which are the first two of the sum.
void launch_scanline_rows(const ScanlineArgs& args, cudaStream_t stream);

/// Those down, then up all columns, which complete the sum and make the mean of it.
void launch_scanline_columns(const ScanlineArgs& args, cudaStream_t stream);

}  // namespace recon::cuda

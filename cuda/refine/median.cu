#include <cmath>
#include <cstddef>

#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/refine/median.hpp"
#include "refine/median_step.hpp"

namespace recon::cuda {
namespace {

__global__ void median_kernel(const float* map, int width, int height, float* median) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * width + x;
  float value[9], next = -INFINITY;
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    const int column = x + i % 3 - 1, row = y + i / 3 - 1;
    const bool inside = column >= 0 && column < width && row >= 0 && row < height;
    const float there = inside ? __ldg(map + static_cast<std::ptrdiff_t>(row) * width + column) : NAN;
    value[i] = known_or_infinity(there, next);
  }
  const float own = __ldg(map + at);
  median[at] = own == own ? median_of_nine(value) : own;
}

}  // namespace

void launch_median_3x3(const float* map, int width, int height, float* median, cudaStream_t stream) {
  median_kernel<<<rows_grid(width, height), kRefineThreads, 0, stream>>>(map, width, height, median);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

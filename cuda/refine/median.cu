#include <cmath>
#include <cstddef>

#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/refine/median.hpp"
#include "refine/median_step.hpp"
#include "refine/smooth_step.hpp"

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

__global__ void smooth_kernel(const float* map, int width, int height, const DisparityBounds bounds,
                              float* smooth) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const auto disparity = [=](int i, int j) {
    const int column = x + i, row = y + j;
    const bool inside = column >= 0 && column < width && row >= 0 && row < height;
    return inside ? __ldg(map + static_cast<std::ptrdiff_t>(row) * width + column) : NAN;
  };
  const float own = disparity(0, 0);
  smooth[static_cast<std::ptrdiff_t>(y) * width + x] =
      own == own ? smoothed_disparity(bounds, disparity) : own;
}

}  // namespace

void launch_median_3x3(const float* map, int width, int height, float* median, cudaStream_t stream) {
  median_kernel<<<rows_grid(width, height), kRefineThreads, 0, stream>>>(map, width, height, median);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_smoothing(const float* map, int width, int height, const DisparityBounds& bounds, float* smooth,
                      cudaStream_t stream) {
  smooth_kernel<<<rows_grid(width, height), kRefineThreads, 0, stream>>>(map, width, height, bounds, smooth);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

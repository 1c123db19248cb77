#include <cstddef>

#include "cuda/device/error.hpp"
#include "cuda/refine/median.hpp"

namespace recon::cuda {
namespace {

__device__ void sort_two(float& a, float& b) {
  const float smaller = fminf(a, b);
  b = fmaxf(a, b);
  a = smaller;
}

/// Sorts the values of the window, the unknown ones as infinity behind all others.
__global__ void median_kernel(const float* map, int width, int height, float* median) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  float value[9];
  int known = 0;
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    const int column = x + i % 3 - 1, row = y + i / 3 - 1;
    const bool inside = column >= 0 && column < width && row >= 0 && row < height;
    value[i] = inside ? __ldg(map + static_cast<std::ptrdiff_t>(row) * width + column) : INFINITY;
    if (isnan(value[i])) value[i] = INFINITY;
    known += isinf(value[i]) ? 0 : 1;
  }
  float result = isinf(value[4]) ? NAN : value[4];
#pragma unroll
  for (int end = 8; end > 0; --end)
#pragma unroll
    for (int i = 0; i < end; ++i) sort_two(value[i], value[i + 1]);
  if (!isnan(result)) {
#pragma unroll
    for (int i = 0; i < 5; ++i)
      if (i == (known - 1) / 2) result = value[i];
  }
  median[static_cast<std::ptrdiff_t>(y) * width + x] = result;
}

}  // namespace

void launch_median_3x3(const float* map, int width, int height, float* median, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((width + 127) / 128), static_cast<unsigned>(height));
  median_kernel<<<grid, 128, 0, stream>>>(map, width, height, median);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

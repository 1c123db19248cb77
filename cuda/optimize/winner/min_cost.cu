#include <cmath>

#include "cuda/device/grid.hpp"
#include "cuda/optimize/winner/min_cost.hpp"
#include "match/combine_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads)
    min_cost_kernel(DeviceVolume costs, int min_disparity, float* disparity) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= costs.width) return;
  float min_cost = invalid_cost(), winner = NAN;
  const float* cost = costs.row(y, 0) + x;
#pragma unroll 16
  for (int d = 0; d < costs.planes; ++d) {
    const float here = __ldg(cost + d * costs.pitch);
    if (here < min_cost) min_cost = here, winner = static_cast<float>(min_disparity + d);
  }
  disparity[static_cast<std::ptrdiff_t>(y) * costs.width + x] = winner;
}

}  // namespace

void queue_min_cost(const DeviceVolume& costs, int min_disparity, float* disparity, cudaStream_t stream) {
  const dim3 grid(blocks_for(costs.width, kThreads), static_cast<unsigned>(costs.height));
  min_cost_kernel<<<grid, kThreads, 0, stream>>>(costs, min_disparity, disparity);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

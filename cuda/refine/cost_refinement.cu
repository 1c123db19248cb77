#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/refine/cost_refinement.hpp"
#include "refine/cost_refinement_step.hpp"

namespace recon::cuda {
namespace {

/// The costs of a pixel; infinite for planes outside the volume.
struct PixelCosts {
  const float* first;
  std::ptrdiff_t pitch;
  int planes;

  __device__ PixelCosts(const DeviceVolume& costs, int x, int y)
      : first(costs.row(y, 0) + x), pitch(costs.pitch), planes(costs.planes) {}
  __device__ float operator()(int d) const {
    return d >= 0 && d < planes ? first[d * pitch] : invalid_cost();
  }
};

__global__ void __launch_bounds__(kRefineThreads)
    adjustment_kernel(const float* disparity, DeviceVolume costs, int min, float* adjusted) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= costs.width) return;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * costs.width + x;
  const float own = disparity[at];
  adjusted[at] = own;
  if (own != own) return;
  const PixelCosts planes(costs, x, y);
  const auto cost = [&](int d) { return planes(d - min); };
  Adjustment adjustment{own, own, cost(nearest_disparity(own))};
  if (x > 0) adjustment.offer(disparity[at - 1], cost);
  if (x + 1 < costs.width) adjustment.offer(disparity[at + 1], cost);
  if (y > 0) adjustment.offer(disparity[at - costs.width], cost);
  if (y + 1 < costs.height) adjustment.offer(disparity[at + costs.width], cost);
  adjusted[at] = adjustment.adjusted;
}

__global__ void __launch_bounds__(kRefineThreads)
    enhancement_kernel(float* disparity, DeviceVolume costs, int min) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= costs.width) return;
  float& own = disparity[static_cast<std::ptrdiff_t>(y) * costs.width + x];
  own = enhanced_disparity(own, min, costs.planes, PixelCosts(costs, x, y));
}

__global__ void __launch_bounds__(kRefineThreads)
    subpixel_kernel(const float* subpixel, float* disparity, int width) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * width + x;
  if (fabsf(subpixel[at] - disparity[at]) <= 0.5f) disparity[at] = subpixel[at];
}

}  // namespace

void queue_adjustment(const float* disparity, const DeviceVolume& costs, int min, float* adjusted,
                      cudaStream_t stream) {
  adjustment_kernel<<<rows_grid(costs.width, costs.height), kRefineThreads, 0, stream>>>(disparity, costs,
                                                                                         min, adjusted);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_enhancement(float* disparity, const DeviceVolume& costs, int min, cudaStream_t stream) {
  enhancement_kernel<<<rows_grid(costs.width, costs.height), kRefineThreads, 0, stream>>>(disparity, costs,
                                                                                          min);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_take_subpixel(const float* subpixel, float* disparity, int width, int height,
                         cudaStream_t stream) {
  subpixel_kernel<<<rows_grid(width, height), kRefineThreads, 0, stream>>>(subpixel, disparity, width);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

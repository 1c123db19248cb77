#include <cmath>

#include "core/confidence_step.hpp"
#include "core/image.hpp"
#include "cuda/device/disjoint_sets.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/refine/view_filters.hpp"

namespace recon::cuda {
namespace {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

/// The contrast around a pixel of a channel, borders repeated: see recon::local_contrast.
__device__ float contrast_at(const std::uint8_t* channel, std::ptrdiff_t pitch, int window, int x, int y,
                             int width, int height) {
  const int radius = window / 2;
  unsigned long long sum = 0, square = 0;
  for (int j = y - radius; j <= y + radius; ++j) {
    const std::uint8_t* row = channel + min(max(j, 0), height - 1) * pitch;
    for (int i = x - radius; i <= x + radius; ++i) {
      const unsigned value = row[min(max(i, 0), width - 1)];
      sum += value;
      square += value * value;
    }
  }
  return contrast_of(sum, square, static_cast<double>(window) * window);
}

__global__ void __launch_bounds__(kRefineThreads)
    trusted_kernel(ViewMaps maps, TrustLimits limits, float* trusted) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= maps.width) return;
  const std::ptrdiff_t at = y * maps.pitch + x;
  bool keeps = maps.cost[at] <= limits.max_cost && maps.confidence[at] >= limits.min_confidence &&
               (limits.mask == nullptr || limits.mask[y * limits.mask_pitch + x] != 0);
  if (keeps && limits.min_texture > 0) {
    float highest = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c)
      if (limits.channel[c] != nullptr)
        highest = fmaxf(highest, contrast_at(limits.channel[c], limits.channel_pitch, limits.window, x, y,
                                             maps.width, maps.height));
    keeps = highest >= limits.min_texture;
  }
  trusted[static_cast<std::ptrdiff_t>(y) * maps.width + x] = keeps ? maps.depth[at] : kUnknown;
}

/// Trees of the connected pixels along the row within a warp.
__global__ void __launch_bounds__(kRefineThreads)
    patch_runs_kernel(const float* depth, int width, float max_relative_step, int* labels, int* sizes) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) % kLanes, at = y * width + x;
  const float own = x < width ? depth[at] : kUnknown;
  const float left = __shfl_up_sync(kAll, own, 1);
  const unsigned starts = __ballot_sync(kAll, lane == 0 || !same_patch(own, left, max_relative_step));
  if (x >= width) return;
  labels[at] = at - lane + kLanes - 1 - __clz(static_cast<int>(starts & (kAll >> (kLanes - 1 - lane))));
  sizes[at] = 0;
}

/// Merges connected pixels across rows and warps.
__global__ void __launch_bounds__(kRefineThreads)
    patch_joins_kernel(const float* depth, int width, float max_relative_step, int* labels) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const int at = y * width + x;
  if (x > 0 && x % kLanes == 0 && same_patch(depth[at], depth[at - 1], max_relative_step))
    unite(labels, at, at - 1);
  if (y > 0 && same_patch(depth[at], depth[at - width], max_relative_step)) unite(labels, at, at - width);
}

/// Replaces labels by their roots and counts the pixels of each; counts nothing more once there are `enough`,
/// so that large patches do not wait for each other's sums.
__global__ void __launch_bounds__(kRefineThreads)
    patch_sizes_kernel(int width, int enough, int* labels, int* sizes) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const int at = y * width + x, root = root_of(labels, at);
  labels[at] = root;
  if (*static_cast<volatile int*>(sizes + root) < enough) atomicAdd(sizes + root, 1);
}

__global__ void __launch_bounds__(kRefineThreads)
    drop_patches_kernel(float* depth, int width, int min_size, const int* labels, const int* sizes) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const int at = y * width + x;
  if (sizes[labels[at]] < min_size) depth[at] = kUnknown;
}

__global__ void __launch_bounds__(kRefineThreads)
    kept_kernel(ViewMaps maps, KeptDepths kept, float* depth, float* confidence) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= maps.width) return;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * maps.width + x;
  const float z = kept.of(depth[at]);
  const bool known = z == z;
  depth[at] = known ? z : kUnknown;
  if (confidence != nullptr)
    confidence[at] = known ? rounded_confidence(maps.confidence[y * maps.pitch + x]) : kUnknown;
}

}  // namespace

void launch_trusted(const ViewMaps& maps, const TrustLimits& limits, float* trusted, cudaStream_t stream) {
  trusted_kernel<<<rows_grid(maps.width, maps.height), kRefineThreads, 0, stream>>>(maps, limits, trusted);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_remove_speckles(float* depth, int width, int height, int min_size, float max_relative_step,
                           int* labels, int* sizes, cudaStream_t stream) {
  if (min_size <= 1) return;
  const dim3 rows = rows_grid(width, height);
  patch_runs_kernel<<<rows, kRefineThreads, 0, stream>>>(depth, width, max_relative_step, labels, sizes);
  RECON_CUDA_TRY(cudaGetLastError());
  patch_joins_kernel<<<rows, kRefineThreads, 0, stream>>>(depth, width, max_relative_step, labels);
  RECON_CUDA_TRY(cudaGetLastError());
  patch_sizes_kernel<<<rows, kRefineThreads, 0, stream>>>(width, min_size, labels, sizes);
  RECON_CUDA_TRY(cudaGetLastError());
  drop_patches_kernel<<<rows, kRefineThreads, 0, stream>>>(depth, width, min_size, labels, sizes);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_kept(const ViewMaps& maps, const KeptDepths& kept, float* depth, float* confidence,
                 cudaStream_t stream) {
  kept_kernel<<<rows_grid(maps.width, maps.height), kRefineThreads, 0, stream>>>(maps, kept, depth,
                                                                                 confidence);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

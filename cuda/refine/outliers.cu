#include <cmath>

#include "cuda/device/error.hpp"
#include "cuda/refine/grid.hpp"
#include "cuda/refine/outliers.hpp"

namespace recon::cuda {
namespace {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void __launch_bounds__(kRefineThreads) check_kernel(LabelledMap map, float tolerance) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= map.width) return;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * map.width;
  map.outliers[row + x] = outlier_of(map.disparity[row + x], x, map.width, map.min, map.count, tolerance,
                                     [&](int column) { return map.right[row + column]; });
}

/// A warp reserves its entries in the list with one atomic operation.
__global__ void __launch_bounds__(kRefineThreads) list_kernel(LabelledMap map, OutlierList list) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(blockIdx.x) * kRefineThreads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool listed = i < map.pixels() && map.outliers[i] != Outlier::kNone;
  const unsigned all = __ballot_sync(kAll, listed);
  int first = 0;
  if (lane == 0 && all != 0) first = atomicAdd(list.count, __popc(all));
  first = __shfl_sync(kAll, first, 0);
  if (listed) list.pixels[first + __popc(all & ((1u << lane) - 1))] = static_cast<int>(i);
}

__global__ void __launch_bounds__(kRefineThreads) invalidate_kernel(LabelledMap map) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(blockIdx.x) * kRefineThreads + threadIdx.x;
  if (i < map.pixels() && map.outliers[i] != Outlier::kNone) map.disparity[i] = NAN;
}

/// The nearest reliable pixel in one direction; the lanes of a half warp search one direction each.
__device__ Filling search_filling(const LabelledMap& map, const Rgb8* image, int pixel, int direction) {
  const int x = pixel % map.width, y = pixel / map.width;
  const float* right = map.right + static_cast<std::ptrdiff_t>(y) * map.width;
  const SearchStep step = search_step(direction);
  for (int i = x + step.x, j = y + step.y; i >= 0 && i < map.width && j >= 0 && j < map.height;
       i += step.x, j += step.y) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(j) * map.width + i;
    if (map.outliers[at] != Outlier::kNone) continue;
    const float value = map.disparity[at];
    if (value != value) continue;
    const bool ruled_out = contradicted(value, x, map.width, [&](int column) { return right[column]; });
    return {filling_difference(map.outliers[pixel], true, ruled_out, image[pixel], image[at]), value};
  }
  return {kNoFilling, NAN};
}

__global__ void __launch_bounds__(kRefineThreads)
    interpolation_kernel(LabelledMap map, OutlierList list, const Rgb8* image) {
  const int lane = static_cast<int>(threadIdx.x) % kSearchDirections;
  const int listed = *list.count;
  const int half_warps = static_cast<int>(gridDim.x) * (kRefineThreads / kSearchDirections);
  const int own = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x) / kSearchDirections;
  for (int first = 0; first < listed; first += half_warps) {
    const int pixel = list.pixels[min(first + own, listed - 1)];
    const bool repairs = first + own < listed && map.outliers[pixel] != Outlier::kNone;
    Filling found{kNoFilling, NAN};
    if (repairs) found = search_filling(map, image, pixel, lane);
#pragma unroll
    for (int lanes = kSearchDirections / 2; lanes > 0; lanes /= 2) {
      const int difference = __shfl_xor_sync(kAll, found.difference, lanes);
      found = better_filling(found, {difference, __shfl_xor_sync(kAll, found.disparity, lanes)});
    }
    if (lane == 0 && found.difference != kNoFilling) map.disparity[pixel] = found.disparity;
  }
}

}  // namespace

void queue_left_right_check(const LabelledMap& map, float tolerance, cudaStream_t stream) {
  check_kernel<<<rows_grid(map.width, map.height), kRefineThreads, 0, stream>>>(map, tolerance);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_outlier_list(const LabelledMap& map, const OutlierList& list, cudaStream_t stream) {
  RECON_CUDA_TRY(cudaMemsetAsync(list.count, 0, sizeof(int), stream));
  list_kernel<<<pixels_grid(map.pixels()), kRefineThreads, 0, stream>>>(map, list);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_interpolation(const LabelledMap& map, const OutlierList& list, const Rgb8* image,
                         cudaStream_t stream) {
  interpolation_kernel<<<kListBlocks, kRefineThreads, 0, stream>>>(map, list, image);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_invalidate(const LabelledMap& map, cudaStream_t stream) {
  invalidate_kernel<<<pixels_grid(map.pixels()), kRefineThreads, 0, stream>>>(map);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

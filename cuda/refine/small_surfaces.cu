#include <cmath>

#include "cuda/device/error.hpp"
#include "cuda/refine/grid.hpp"
#include "cuda/refine/surfaces.hpp"
#include "refine/surface_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;
static_assert(kRefineThreads % kLanes == 0, "a warp has 32 neighbours of a row");

/// The lane where the run of `lane` starts. @param starts  a bit for each lane that starts a run
__device__ int run_start(unsigned starts, int lane) {
  return kLanes - 1 - __clz(static_cast<int>(starts & (kAll >> (kLanes - 1 - lane))));
}

/// A volatile load: other threads merge trees concurrently.
__device__ int parent_of(const int* labels, int i) {
  return *static_cast<const volatile int*>(labels + i);
}

__device__ int root_of(const int* labels, int i) {
  for (int parent = parent_of(labels, i); parent != i; parent = parent_of(labels, i)) i = parent;
  return i;
}

/// Merges the trees of two pixels: the larger root becomes a child of the smaller one.
__device__ void join(int* labels, int a, int b) {
  while (true) {
    a = root_of(labels, a), b = root_of(labels, b);
    if (a == b) return;
    const int greater = max(a, b), lesser = min(a, b);
    const int before = atomicMin(labels + greater, lesser);
    if (before == greater) return;
    a = before, b = lesser;  // another thread was faster: its tree is merged too
  }
}

/// Disparities of reliable pixels; trees of the connected pixels along the row within a warp.
__global__ void __launch_bounds__(kRefineThreads) runs_kernel(LabelledMap map, SurfaceScratch scratch) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) % kLanes, at = y * map.width + x;
  const bool inside = x < map.width;
  float own = NAN;
  if (inside && map.outliers[at] == Outlier::kNone) own = map.disparity[at];
  const float left = __shfl_up_sync(kAll, own, 1);
  const unsigned starts = __ballot_sync(kAll, lane == 0 || !same_surface(own, left));
  if (!inside) return;
  scratch.reliable[at] = own;
  scratch.labels[at] = at - lane + run_start(starts, lane);
  scratch.sizes[at] = 0;
}

/// Merges connected pixels across rows and warps.
__global__ void __launch_bounds__(kRefineThreads) joins_kernel(LabelledMap map, SurfaceScratch scratch) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= map.width) return;
  const int at = y * map.width + x, above = at - map.width;
  const float* reliable = scratch.reliable;
  const bool with_left = x > 0 && same_surface(reliable[at], reliable[at - 1]);
  if (with_left && threadIdx.x % kLanes == 0) join(scratch.labels, at, at - 1);
  if (y == 0 || !same_surface(reliable[at], reliable[above])) return;
  const bool by_the_left = with_left && same_surface(reliable[at - 1], reliable[above - 1]) &&
                           same_surface(reliable[above - 1], reliable[above]);
  if (!by_the_left) join(scratch.labels, at, above);
}

/// Replaces labels by their roots and counts the pixels of each, one run at a time.
__global__ void __launch_bounds__(kRefineThreads) sizes_kernel(LabelledMap map, SurfaceScratch scratch) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) % kLanes, at = y * map.width + x;
  const int root = x < map.width ? root_of(scratch.labels, at) : -1;
  const int before = __shfl_up_sync(kAll, root, 1);
  const bool starts = lane == 0 || before != root;
  const unsigned later = __ballot_sync(kAll, starts) >> lane >> 1;
  if (root < 0) return;
  scratch.labels[at] = root;
  if (starts) atomicAdd(scratch.sizes + root, later != 0 ? __ffs(static_cast<int>(later)) : kLanes - lane);
}

__global__ void __launch_bounds__(kRefineThreads)
    invalidate_segments_kernel(LabelledMap map, SurfaceScratch scratch, int min_size) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(blockIdx.x) * kRefineThreads + threadIdx.x;
  if (i >= map.pixels() || map.outliers[i] != Outlier::kNone) return;
  const bool known = scratch.reliable[i] == scratch.reliable[i];
  if (known && scratch.sizes[scratch.labels[i]] >= min_size) return;
  map.outliers[i] = Outlier::kOcclusion;
  scratch.reliable[i] = NAN;
}

}  // namespace

void queue_small_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, int min_size,
                          cudaStream_t stream) {
  const dim3 rows = rows_grid(map.width, map.height);
  runs_kernel<<<rows, kRefineThreads, 0, stream>>>(map, scratch);
  RECON_CUDA_TRY(cudaGetLastError());
  joins_kernel<<<rows, kRefineThreads, 0, stream>>>(map, scratch);
  RECON_CUDA_TRY(cudaGetLastError());
  sizes_kernel<<<rows, kRefineThreads, 0, stream>>>(map, scratch);
  RECON_CUDA_TRY(cudaGetLastError());
  invalidate_segments_kernel<<<pixels_grid(map.pixels()), kRefineThreads, 0, stream>>>(map, scratch,
                                                                                       min_size);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream) {
  queue_small_surfaces(map, scratch, kMinSurface, stream);
  queue_extension(map, scratch, stream);
}

}  // namespace recon::cuda

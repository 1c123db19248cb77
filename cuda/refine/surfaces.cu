#include <cmath>

#include "cuda/device/disjoint_sets.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
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

/// Disparities of reliable pixels, all without outliers; trees of the connected pixels along the row within a
/// warp.
__global__ void __launch_bounds__(kRefineThreads) runs_kernel(LabelledMap map, SurfaceScratch scratch) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) % kLanes, at = y * map.width + x;
  const bool inside = x < map.width;
  float own = NAN;
  if (inside && (map.outliers == nullptr || map.outliers[at] == Outlier::kNone)) own = map.disparity[at];
  const float left = __shfl_up_sync(kAll, own, 1);
  const unsigned starts = __ballot_sync(kAll, lane == 0 || !same_surface(own, left));
  if (!inside) return;
  if (map.outliers != nullptr) scratch.reliable[at] = own;
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
  if (with_left && threadIdx.x % kLanes == 0) unite(scratch.labels, at, at - 1);
  if (y == 0 || !same_surface(reliable[at], reliable[above])) return;
  const bool by_the_left = with_left && same_surface(reliable[at - 1], reliable[above - 1]) &&
                           same_surface(reliable[above - 1], reliable[above]);
  if (!by_the_left) unite(scratch.labels, at, above);
}

/// Replaces labels by their roots and counts the pixels of each, one run at a time; counts nothing more once
/// there are `enough`, so that large surfaces do not wait for each other's sums.
__global__ void __launch_bounds__(kRefineThreads)
    sizes_kernel(LabelledMap map, SurfaceScratch scratch, int enough) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) % kLanes, at = y * map.width + x;
  const int root = x < map.width ? root_of(scratch.labels, at) : -1;
  const int before = __shfl_up_sync(kAll, root, 1);
  const bool starts = lane == 0 || before != root;
  const unsigned later = __ballot_sync(kAll, starts) >> lane >> 1;
  if (root < 0) return;
  scratch.labels[at] = root;
  if (!starts || *static_cast<volatile int*>(scratch.sizes + root) >= enough) return;
  atomicAdd(scratch.sizes + root, later != 0 ? __ffs(static_cast<int>(later)) : kLanes - lane);
}

__global__ void __launch_bounds__(kRefineThreads)
    invalidate_segments_kernel(LabelledMap map, SurfaceScratch scratch, int min_size) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(blockIdx.x) * kRefineThreads + threadIdx.x;
  if (i >= map.pixels() || map.outliers[i] != Outlier::kNone) return;
  const bool known = scratch.reliable[i] == scratch.reliable[i];
  if (known && scratch.sizes[scratch.labels[i]] >= min_size) return;
  map.outliers[i] = Outlier::kOutlier;
  scratch.reliable[i] = NAN;
}

}  // namespace

static void queue_sizes(const LabelledMap& map, const SurfaceScratch& scratch, int enough,
                        cudaStream_t stream) {
  const dim3 rows = rows_grid(map.width, map.height);
  runs_kernel<<<rows, kRefineThreads, 0, stream>>>(map, scratch);
  RECON_CUDA_TRY(cudaGetLastError());
  joins_kernel<<<rows, kRefineThreads, 0, stream>>>(map, scratch);
  RECON_CUDA_TRY(cudaGetLastError());
  sizes_kernel<<<rows, kRefineThreads, 0, stream>>>(map, scratch, enough);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_surface_sizes(float* disparity, int width, int height, int enough, int* labels, int* sizes,
                         cudaStream_t stream) {
  queue_sizes({disparity, nullptr, nullptr, width, height, 0, 0}, {disparity, labels, sizes, nullptr}, enough,
              stream);
}

void queue_small_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, int min_size,
                          cudaStream_t stream) {
  queue_sizes(map, scratch, min_size, stream);
  invalidate_segments_kernel<<<pixels_grid(map.pixels()), kRefineThreads, 0, stream>>>(map, scratch,
                                                                                       min_size);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream) {
  queue_small_surfaces(map, scratch, kMinSurface, stream);
  queue_extension(map, scratch, stream);
}

namespace {

constexpr int kSide = 2 * kFitReach + 1;  ///< of the window around a pixel
constexpr int kThreads = 96, kWords = kThreads / kLanes;
static_assert(kSide <= kThreads, "a thread, and a bit, for each row and column of the window");

using Bits = unsigned __int128;

__device__ Bits reversed(Bits bits) {
  Bits result = 0;
#pragma unroll
  for (int word = 0; word < 4; ++word)
    result = result << 32 | __brev(static_cast<unsigned>(bits >> 32 * word));
  return result;
}

/// `seeds`, and all bits above them that are connected to them: bit b of `links` states whether b is
/// connected to b - 1. The carries of the sum propagate through the links.
__device__ Bits spread_up(Bits seeds, Bits links) {
  const Bits entered = seeds << 1 & links;
  return seeds | entered | (((links + entered) ^ links) & links);
}

/// A run of pixels of the strip directly before `pixel`, which is reliable; the run starts at column `begin`.
struct Strip {
  int pixel, begin;
};

/// Finds the runs that are not visible in the right view, in any order.
__global__ void __launch_bounds__(kRefineThreads)
    strips_kernel(LabelledMap map, const float* reliable, Strip* strips, int* count) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= map.width || x == 0) return;
  const float* row = reliable + static_cast<std::ptrdiff_t>(y) * map.width;
  const float own = row[x];
  if (own != own) return;
  int begin = x;
  while (begin > 0 && row[begin - 1] != row[begin - 1]) --begin;
  if (begin == x || !is_beyond_right_view(begin, own)) return;
  strips[atomicAdd(count, 1)] = {y * map.width + x, begin};
}

/// The window around a reliable pixel; one thread per row.
struct Window {
  Bits rows[kThreads + 2];       ///< pixels that are reached, with an empty row at either end
  unsigned across[kThreads][4];  ///< bit b: pixel b is connected to b - 1
  unsigned down[kThreads][4];    ///< bit b: pixel b is connected to that of the row above
  double sums[9][kThreads];

  __device__ static Bits joined(const unsigned (&words)[4]) {
    return static_cast<Bits>(words[2]) << 64 | static_cast<Bits>(words[1]) << 32 | words[0];
  }
};

/// Finds the connected neighbours in the window: one warp per row, one lane per pixel.
__device__ void link(const LabelledMap& map, const float* reliable, int x, int y, Window& window) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int v = static_cast<int>(threadIdx.x) / kLanes; v < kSide; v += kThreads / kLanes) {
    const int j = y + v - kFitReach;
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      const int b = word * kLanes + lane, i = x + b - kFitReach;
      const bool there = b < kSide && i >= 0 && i < map.width && j >= 0 && j < map.height;
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(j) * map.width + i;
      const bool across = there && b > 0 && i > 0 && same_surface(reliable[at], reliable[at - 1]);
      const bool down = there && v > 0 && j > 0 && same_surface(reliable[at], reliable[at - map.width]);
      const unsigned all_across = __ballot_sync(kAll, across), all_down = __ballot_sync(kAll, down);
      if (lane == 0) window.across[v][word] = all_across, window.down[v][word] = all_down;
    }
  }
}

/// The pixels of a thread's row that are connected to the centre within the window.
__device__ Bits flood(Window& window) {
  const int v = static_cast<int>(threadIdx.x);
  const bool inside = v < kSide;
  const Bits across = inside ? Window::joined(window.across[v]) : 0;
  const Bits from_above = inside ? Window::joined(window.down[v]) : 0;
  const Bits from_below = v + 1 < kSide ? Window::joined(window.down[v + 1]) : 0;
  const Bits backwards = reversed(across >> 1);  // bit 127 - b: pixel b is connected to b + 1
  const Bits links_back = backwards;
  Bits reached = v == kFitReach ? static_cast<Bits>(1) << kFitReach : 0;
  window.rows[v + 1] = reached;
  if (v == 0) window.rows[0] = window.rows[kThreads + 1] = 0;
  bool changed = true;
  while (__syncthreads_or(changed)) {
    const Bits before = reached;
    reached |= (window.rows[v] & from_above) | (window.rows[v + 2] & from_below);
    reached = spread_up(reached, across);
    reached = reversed(spread_up(reversed(reached), links_back));
    changed = reached != before;
    __syncthreads();
    window.rows[v + 1] = reached;
  }
  return reached;
}

/// Accumulates the sums of the fit, row by row, then over the rows.
__device__ PlaneFit fit_plane(const LabelledMap& map, const float* reliable, int x, int y, Bits reached,
                              Window& window) {
  const int thread = static_cast<int>(threadIdx.x), v = thread - kFitReach;
  const std::ptrdiff_t centre = static_cast<std::ptrdiff_t>(y) * map.width + x;
  PlaneFit row;
  for (int b = 0; b < kSide; ++b) {
    if (!(static_cast<unsigned>(reached >> b) & 1u)) continue;
    const int u = b - kFitReach;
    const float value = reliable[centre + static_cast<std::ptrdiff_t>(v) * map.width + u];
    row.add(u, v, static_cast<double>(value - reliable[centre]));
  }
  const double sums[9] = {row.n, row.u, row.v, row.d, row.uu, row.uv, row.vv, row.ud, row.vd};
#pragma unroll
  for (int k = 0; k < 9; ++k) window.sums[k][thread] = sums[k];
  __syncthreads();
  if (thread < 9) {
    double sum = 0;
    for (int t = 0; t < kSide; ++t) sum += window.sums[thread][t];
    window.sums[thread][0] = sum;
  }
  __syncthreads();
  const auto& all = window.sums;
  return {all[0][0], all[1][0], all[2][0], all[3][0], all[4][0], all[5][0], all[6][0], all[7][0], all[8][0]};
}

/// One thread block per run.
__global__ void __launch_bounds__(kThreads)
    extension_kernel(LabelledMap map, const float* reliable, const Strip* strips, const int* count) {
  __shared__ Window window;
  for (int k = static_cast<int>(blockIdx.x); k < *count; k += static_cast<int>(gridDim.x)) {
    const Strip strip = strips[k];
    const int x = strip.pixel % map.width, y = strip.pixel / map.width;
    __syncthreads();
    link(map, reliable, x, y, window);
    __syncthreads();
    const Bits reached = flood(window);
    const PlaneFit plane = fit_plane(map, reliable, x, y, reached, window);
    const float own = reliable[strip.pixel];
    for (int i = strip.begin + static_cast<int>(threadIdx.x); i < x; i += kThreads) {
      if (!is_beyond_right_view(i, own)) continue;
      const int at = strip.pixel - x + i;
      map.disparity[at] = carried_disparity(own, plane, i - x, map.min, map.count);
      map.outliers[at] = Outlier::kNone;
    }
  }
}

}  // namespace

void queue_extension(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream) {
  // The number of runs is at most half the number of pixels, because a reliable pixel follows each.
  auto* strips = reinterpret_cast<Strip*>(scratch.labels);
  RECON_CUDA_TRY(cudaMemsetAsync(scratch.count, 0, sizeof(int), stream));
  strips_kernel<<<rows_grid(map.width, map.height), kRefineThreads, 0, stream>>>(map, scratch.reliable,
                                                                                 strips, scratch.count);
  RECON_CUDA_TRY(cudaGetLastError());
  extension_kernel<<<kListBlocks, kThreads, 0, stream>>>(map, scratch.reliable, strips, scratch.count);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

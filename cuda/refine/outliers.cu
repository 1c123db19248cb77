#include <algorithm>
#include <cmath>

#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/refine/outliers.hpp"

namespace recon::cuda {

namespace {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void __launch_bounds__(kRefineThreads) check_kernel(LabelledMap map, float tolerance) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= map.width) return;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * map.width;
  const bool agree = views_agree(map.disparity[row + x], x, map.width, tolerance,
                                 [&](int column) { return map.right[row + column]; });
  map.outliers[row + x] = agree ? Outlier::kNone : Outlier::kOutlier;
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
    return {ruled_out ? kContradictedFilling : max_difference(image[pixel], image[at]), value};
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

namespace {

constexpr int kMaxBins = 4096, kMaxWarps = 4;
constexpr std::size_t kSharedBytes = std::size_t{48} << 10;

__global__ void __launch_bounds__(kRefineThreads) bins_kernel(LabelledMap map, std::int16_t* bins) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(blockIdx.x) * kRefineThreads + threadIdx.x;
  if (i < map.pixels())
    bins[i] = static_cast<std::int16_t>(voting_bin(map.disparity[i], map.outliers[i], map.min, map.count));
}

/// Counts the votes of columns first .. last of a row, runs of equal bins at a time; returns the number of
/// votes.
__device__ int count_row(const std::int16_t* bins, int first, int last, int lane, int* histogram) {
  int votes = 0;
  for (int begin = first; begin <= last; begin += kLanes) {
    const int bin = begin + lane <= last ? bins[begin + lane] : -1;
    const int before = __shfl_up_sync(kAll, bin, 1);
    const bool starts = lane == 0 || before != bin;
    const unsigned later = __ballot_sync(kAll, starts) >> lane >> 1;
    votes += __popc(__ballot_sync(kAll, bin >= 0));
    if (starts && bin >= 0)
      atomicAdd(histogram + bin, later != 0 ? __ffs(static_cast<int>(later)) : kLanes - lane);
  }
  return votes;
}

/// Counts the votes of a pixel's region.
__device__ int count_region(const LabelledMap& map, const RegionVote& vote, int x, int y, int lane,
                            int* histogram) {
  const auto* crosses = reinterpret_cast<const uchar4*>(vote.crosses) + x;  // left, right, up, down
  const uchar4 own = crosses[static_cast<std::ptrdiff_t>(y) * map.width];
  const int top = y - own.z, bottom = y + own.w;
  int votes = 0;
  for (int begin = top; begin <= bottom; begin += kLanes) {
    const int rows = min(kLanes, bottom + 1 - begin);
    const std::ptrdiff_t mine = begin + min(lane, rows - 1);
    const uchar4 beside = crosses[mine * map.width];
    const int arms = beside.x << 8 | beside.y;
    for (int k = 0; k < rows; ++k) {
      const int arm = __shfl_sync(kAll, arms, k);
      const std::int16_t* bins = vote.bins + static_cast<std::ptrdiff_t>(begin + k) * map.width;
      votes += count_row(bins, x - (arm >> 8), x + (arm & 0xFF), lane, histogram);
    }
  }
  return votes;
}

/// The count of the fullest bin in the high bits, the complement of its index below, so that the lowest bin
/// wins ties.
__device__ unsigned fullest_bin(const int* histogram, int count, int lane) {
  unsigned best = 0;
  for (int bin = lane; bin < count; bin += kLanes)
    best = max(best,
               static_cast<unsigned>(histogram[bin]) * kMaxBins + static_cast<unsigned>(kMaxBins - 1 - bin));
  for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) best = max(best, __shfl_xor_sync(kAll, best, lanes));
  return best;
}

/// One warp per outlier. Only the bins of other pixels are read, so the order does not matter.
__global__ void __launch_bounds__(kLanes* kMaxWarps)
    vote_kernel(LabelledMap map, OutlierList list, RegionVote vote) {
  extern __shared__ int histograms[];
  const int lane = static_cast<int>(threadIdx.x) % kLanes, warp = static_cast<int>(threadIdx.x) / kLanes;
  const int warps = static_cast<int>(blockDim.x) / kLanes, listed = *list.count;
  int* histogram = histograms + warp * map.count;
  for (int k = static_cast<int>(blockIdx.x) * warps + warp; k < listed;
       k += static_cast<int>(gridDim.x) * warps) {
    const int pixel = list.pixels[k];
    if (map.outliers[pixel] == Outlier::kNone) continue;
    const int x = pixel % map.width, y = pixel / map.width;
    __syncwarp();
    for (int bin = lane; bin < map.count; bin += kLanes) histogram[bin] = 0;
    __syncwarp();
    const int votes = count_region(map, vote, x, y, lane, histogram);
    __syncwarp();
    const unsigned best = fullest_bin(histogram, map.count, lane);
    const float value = static_cast<float>(map.min + kMaxBins - 1 - static_cast<int>(best % kMaxBins));
    const float* right = map.right + static_cast<std::ptrdiff_t>(y) * map.width;
    const bool decides =
        votes > 0 && vote_decides(static_cast<int>(best / kMaxBins), votes, vote.min_votes, vote.min_share);
    if (lane != 0 || !decides) continue;
    if (contradicted(value, x, map.width, [&](int column) { return right[column]; })) continue;
    map.disparity[pixel] = value;
    map.outliers[pixel] = Outlier::kNone;
  }
}

}  // namespace

void queue_votes(const LabelledMap& map, const OutlierList& list, const RegionVote& vote,
                 cudaStream_t stream) {
  EXPECTS(map.count >= 1 && map.count <= kMaxBins);
  const std::size_t histogram = static_cast<std::size_t>(map.count) * sizeof(int);
  const auto warps = static_cast<unsigned>(std::min<std::size_t>(kMaxWarps, kSharedBytes / histogram));
  for (int iteration = 0; iteration < vote.iterations; ++iteration) {
    bins_kernel<<<pixels_grid(map.pixels()), kRefineThreads, 0, stream>>>(map, vote.bins);
    RECON_CUDA_TRY(cudaGetLastError());
    vote_kernel<<<kListBlocks, kLanes * warps, warps * histogram, stream>>>(map, list, vote);
    RECON_CUDA_TRY(cudaGetLastError());
  }
}

}  // namespace recon::cuda

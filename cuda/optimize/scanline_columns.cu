#include <cstddef>

#include "cuda/device/error.hpp"
#include "cuda/optimize/scanline.cuh"

namespace recon::cuda {
namespace {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr int kColumns = 8;  ///< of a block: a sector of memory
constexpr int kGroups = kLanes / kColumns;
constexpr int kMaxGroups = 128, kMaxWarps = kMaxGroups / kGroups;

/// What the threads of a block tell each other after a step, by group of planes and by column.
struct Exchange {
  float least[kMaxWarps][kColumns];
  float first[kMaxGroups][kColumns], last[kMaxGroups][kColumns];
};

/// Inputs of a step, fetched before they are needed.
template <int kPlanes>
struct ColumnStep {
  float cost[kPlanes], sum[kPlanes];
  std::uint8_t matched[kPlanes];
  std::uint8_t edge;
};

/// A thread's place: kPlanes neighbouring planes of a column.
template <int kPlanes>
struct ColumnPlanes {
  int x, column, group, first, planes;
  int matched[kPlanes];  ///< columns of the other view, -1: it does not see the step

  __device__ ColumnPlanes(const ScanlineArgs& args) {
    const int thread = static_cast<int>(threadIdx.x), width = args.costs.width;
    column = thread % kColumns, group = thread / kColumns;
    x = static_cast<int>(blockIdx.x) * kColumns + column;
    first = group * kPlanes, planes = args.costs.planes;
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const int u = matching_column(args.edges.side, x, args.edges.min_disparity + first + i);
      matched[i] = args.edges.other != nullptr && u >= 0 && u < width ? u : -1;
    }
  }

  /// @param boundary  the row below the step
  __device__ void load(const ScanlineArgs& args, int y, int boundary, ColumnStep<kPlanes>& step) const {
    const int width = args.costs.width;
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(boundary) * width;
    step.edge = args.edges.reference[row + min(x, width - 1)];
    const float* costs = args.costs.row(y, first) + x;
    const float* sums = args.mean.row(y, first) + x;
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const bool there = first + i < planes;
      step.cost[i] = there ? costs[i * args.costs.pitch] : invalid_cost();
      step.sum[i] = there ? sums[i * args.costs.pitch] : 0.0f;
      step.matched[i] = matched[i] < 0 ? step.edge : args.edges.other[row + matched[i]];
    }
  }
};

/// Follows the paths of some columns in one direction and adds them to the sums.
template <bool kDown, int kPlanes>
__device__ void follow_columns(const ScanlineArgs& args, const ColumnPlanes<kPlanes>& place,
                               Exchange* exchange) {
  const int height = args.costs.height;
  const int warp = static_cast<int>(threadIdx.x) / kLanes, warps = static_cast<int>(blockDim.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, groups = warps * kGroups;
  float path[kPlanes];
  float least = invalid_cost(), outer_below = invalid_cost(), outer_above = invalid_cost();
  for (int i = 0; i < kPlanes; ++i) path[i] = invalid_cost();
  ColumnStep<kPlanes> now, next;
  place.load(args, kDown ? 0 : height - 1, kDown ? 0 : height - 1, next);
  for (int step = 0; step < height; ++step) {
    const int y = kDown ? step : height - 1 - step;
    now = next;
    if (step + 1 < height) place.load(args, kDown ? y + 1 : y - 1, kDown ? y + 1 : y, next);
    float below = outer_below, least_now = invalid_cost();
    float* mean = args.mean.row(y, place.first) + place.x;
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const float same = path[i], above = i + 1 < kPlanes ? path[i + 1 < kPlanes ? i + 1 : i] : outer_above;
      const int edges = (now.edge >> 1 & 1) + (now.matched[i] >> 1 & 1);
      path[i] = scanline_cost(now.cost[i], same, below, above, least, args.penalties(edges));
      least_now = path[i] < least_now ? path[i] : least_now;
      below = same;
      const float sum = now.sum[i] + path[i];
      if (place.first + i < place.planes) mean[i * args.mean.pitch] = kDown ? sum : sum * 0.25f;
    }
#pragma unroll
    for (int lanes = kColumns; lanes < kLanes; lanes *= 2) {
      const float other = __shfl_xor_sync(kAll, least_now, lanes);
      least_now = other < least_now ? other : least_now;
    }
    Exchange& told = exchange[step & 1];
    if (lane < kColumns) told.least[warp][place.column] = least_now;
    told.first[place.group][place.column] = path[0];
    told.last[place.group][place.column] = path[kPlanes - 1];
    __syncthreads();
    least = told.least[0][place.column];
    for (int w = 1; w < warps; ++w) {
      const float other = told.least[w][place.column];
      least = other < least ? other : least;
    }
    outer_below = place.group > 0 ? told.last[place.group - 1][place.column] : invalid_cost();
    outer_above = place.group + 1 < groups ? told.first[place.group + 1][place.column] : invalid_cost();
  }
}

template <int kPlanes, int kThreads>
__global__ void __launch_bounds__(kThreads) columns_kernel(ScanlineArgs args) {
  __shared__ Exchange exchange[2];
  const ColumnPlanes<kPlanes> place(args);
  follow_columns<true, kPlanes>(args, place, exchange);
  __syncthreads();
  follow_columns<false, kPlanes>(args, place, exchange);
}

template <int kPlanes, int kThreads>
void launch(const ScanlineArgs& args, cudaStream_t stream) {
  constexpr int kOfWarp = kPlanes * kGroups;
  const int warps = (args.costs.planes + kOfWarp - 1) / kOfWarp;
  const auto blocks = static_cast<unsigned>((args.costs.width + kColumns - 1) / kColumns);
  columns_kernel<kPlanes, kThreads><<<blocks, static_cast<unsigned>(kLanes * warps), 0, stream>>>(args);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void launch_scanline_columns(const ScanlineArgs& args, cudaStream_t stream) {
  if (args.costs.planes <= 256) return launch<4, 512>(args, stream);
  if (args.costs.planes <= 512) return launch<8, 512>(args, stream);
  return launch<32, 1024>(args, stream);
}

}  // namespace recon::cuda

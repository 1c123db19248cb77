#include <cstddef>

#include "cuda/device/grid.hpp"
#include "cuda/optimize/scanline/scanline.cuh"

namespace recon::cuda {
namespace {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr int kColumns = 8;  ///< per thread block: a sector of memory
constexpr int kGroups = kLanes / kColumns;
constexpr int kMaxGroups = 128, kMaxWarps = kMaxGroups / kGroups;

/// Values exchanged between the threads of a thread block after a step, by group of planes and by column.
struct Exchange {
  float min_cost[kMaxWarps][kColumns];
  float first[kMaxGroups][kColumns], last[kMaxGroups][kColumns];
};

/// Inputs of a step, prefetched. They are not processed before they are needed, because that would wait for
/// the loads.
template <int kPlanes>
struct ColumnStep {
  float cost[kPlanes], sum[kPlanes];
  std::uint8_t matched[kPlanes];
  std::uint8_t edge;
};

/// The part of a thread: kPlanes neighbouring planes of a column.
template <int kPlanes>
struct ColumnPlanes {
  int x, column, group, first, planes;
  int offset[kPlanes];   ///< floats from the first plane to the others
  int matched[kPlanes];  ///< columns of the source, clamped to it
  bool seen[kPlanes];    ///< whether they lie inside it

  __device__ ColumnPlanes(const ScanlineArgs& args) {
    const int thread = static_cast<int>(threadIdx.x), width = args.costs.width;
    column = thread % kColumns, group = thread / kColumns;
    x = static_cast<int>(blockIdx.x) * kColumns + column;
    first = group * kPlanes, planes = args.costs.planes;
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const int u = matching_column(args.edges.side, x, args.edges.min_disparity + first + i);
      matched[i] = min(max(u, 0), width - 1);
      seen[i] = args.edges.other != nullptr && u == matched[i];
      offset[i] = i * static_cast<int>(args.costs.pitch);
    }
  }

  /// @param boundary  the row below the step
  __device__ void load(const ScanlineArgs& args, int y, int boundary, ColumnStep<kPlanes>& step) const {
    const int width = args.costs.width;
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(args.costs.height + boundary) * width;
    const std::uint8_t* own = args.edges.reference + row;
    const std::uint8_t* other = args.edges.other != nullptr ? args.edges.other + row : own;
    step.edge = own[min(x, width - 1)];
    const float* costs = args.costs.row(y, first) + x;
    const float* sums = args.mean.row(y, first) + x;
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const bool there = first + i < planes;
      step.cost[i] = there ? costs[offset[i]] : invalid_cost();
      step.sum[i] = there ? sums[offset[i]] : 0.0f;
      step.matched[i] = other[matched[i]];
    }
  }
};

/// Paths down or up the columns of a thread block.
template <bool kDown, int kPlanes>
struct ColumnPath {
  const ScanlineArgs& args;
  const ColumnPlanes<kPlanes>& place;
  Exchange* exchange;  ///< two of them, alternating
  const ScanlineTable& penalties;
  float path[kPlanes];
  float min_cost, outer_below, outer_above;

  __device__ ColumnPath(const ScanlineArgs& all, const ColumnPlanes<kPlanes>& where, Exchange* between,
                        const ScanlineTable& table)
      : args(all), place(where), exchange(between), penalties(table) {
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) path[i] = invalid_cost();
    min_cost = outer_below = outer_above = invalid_cost();
  }

  __device__ int row_of(int step) const {
    return kDown ? step : args.costs.height - 1 - step;
  }

  __device__ void load(int step, ColumnStep<kPlanes>& into) const {
    if (step >= args.costs.height) return;
    const int y = row_of(step);
    place.load(args, y, kDown || step == 0 ? y : y + 1, into);
  }

  /// Advances the paths by a step and adds their costs to the sums.
  __device__ void follow(int step, const ColumnStep<kPlanes>& now) {
    float below = outer_below, min_now = invalid_cost();
    float* mean = args.mean.row(row_of(step), place.first) + place.x;
    const int own = 3 * now.edge;
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const float same = path[i], above = i + 1 < kPlanes ? path[i + 1 < kPlanes ? i + 1 : i] : outer_above;
      path[i] = scanline_cost(now.cost[i], same, below, above, min_cost,
                              penalties(own + (place.seen[i] ? now.matched[i] : kUnseenStep)));
      min_now = fminf(min_now, path[i]);
      below = same;
      const float sum = now.sum[i] + path[i];
      if (place.first + i < place.planes) mean[place.offset[i]] = kDown ? sum : sum * 0.25f;
    }
    meet(exchange[step & 1], min_now);
  }

 private:
  __device__ void meet(Exchange& shared, float min_now) {
    const int warp = static_cast<int>(threadIdx.x) / kLanes, warps = static_cast<int>(blockDim.x) / kLanes;
    shared.first[place.group][place.column] = path[0];
    shared.last[place.group][place.column] = path[kPlanes - 1];
#pragma unroll
    for (int lanes = kColumns; lanes < kLanes; lanes *= 2)
      min_now = fminf(min_now, __shfl_xor_sync(kAll, min_now, lanes));
    if (threadIdx.x % kLanes < kColumns) shared.min_cost[warp][place.column] = min_now;
    __syncthreads();
    min_cost = shared.min_cost[0][place.column];
    for (int w = 1; w < warps; ++w) min_cost = fminf(min_cost, shared.min_cost[w][place.column]);
    const int group = place.group;
    outer_below = group > 0 ? shared.last[group - 1][place.column] : invalid_cost();
    outer_above = group + 1 < warps * kGroups ? shared.first[group + 1][place.column] : invalid_cost();
  }
};

/// @tparam kAhead  number of steps whose inputs are prefetched
template <bool kDown, int kPlanes, int kAhead>
__device__ void follow_columns(const ScanlineArgs& args, const ColumnPlanes<kPlanes>& place,
                               Exchange* exchange, const ScanlineTable& penalties) {
  ColumnPath<kDown, kPlanes> path(args, place, exchange, penalties);
  ColumnStep<kPlanes> ahead[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) path.load(i, ahead[i]);
  for (int first = 0; first < args.costs.height; first += kAhead) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (first + i >= args.costs.height) break;
      path.follow(first + i, ahead[i]);
      path.load(first + i + kAhead, ahead[i]);
    }
  }
}

template <int kPlanes, int kAhead, int kThreads>
__global__ void __launch_bounds__(kThreads) columns_kernel(ScanlineArgs args) {
  __shared__ Exchange exchange[2];
  __shared__ ScanlineTable penalties;
  if (threadIdx.x < 6) penalties.penalties[threadIdx.x] = args.penalties.penalties[threadIdx.x];
  __syncthreads();
  const ColumnPlanes<kPlanes> place(args);
  follow_columns<true, kPlanes, kAhead>(args, place, exchange, penalties);
  __syncthreads();
  follow_columns<false, kPlanes, kAhead>(args, place, exchange, penalties);
}

template <int kPlanes, int kAhead, int kThreads>
void launch(const ScanlineArgs& args, cudaStream_t stream) {
  constexpr int kOfWarp = kPlanes * kGroups;
  const int warps = divided_up(args.costs.planes, kOfWarp);
  const unsigned blocks = blocks_for(args.costs.width, kColumns);
  columns_kernel<kPlanes, kAhead, kThreads>
      <<<blocks, static_cast<unsigned>(kLanes * warps), 0, stream>>>(args);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void launch_scanline_columns(const ScanlineArgs& args, cudaStream_t stream) {
  if (args.costs.planes <= 128) return launch<4, 4, 256>(args, stream);
  if (args.costs.planes <= 512) return launch<8, 2, 512>(args, stream);
  return launch<32, 1, 1024>(args, stream);
}

}  // namespace recon::cuda

#include <cstddef>

#include "cuda/device/grid.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/optimize/scanline/scanline.cuh"

namespace recon::cuda {
namespace {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr int kMargin = 16;  ///< steps after the last one of a row that have unused edge entries

/// Values exchanged between the warps of a row after a step.
struct Exchange {
  float min_cost[kLanes], first[kLanes], last[kLanes];
};

/// A path along a row, processed by one thread block; each thread has kPlanes neighbouring planes.
template <int kPlanes, bool kOneWarp>
struct RowPath {
  float path[kPlanes];
  float min_cost;
  float outer_below, outer_above;  ///< path costs of the planes adjacent to those of the warp
  Exchange* exchange;              ///< two of them, alternating
  int turn;

  __device__ void begin(Exchange* between) {
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) path[i] = invalid_cost();
    min_cost = outer_below = outer_above = invalid_cost();
    exchange = between, turn = 0;
  }

  /// @param penalties  penalties(i): those of plane i of the thread
  template <class Penalties>
  __device__ void step(const float (&cost)[kPlanes], const Penalties& penalties) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    float below = __shfl_up_sync(kAll, path[kPlanes - 1], 1), next = __shfl_down_sync(kAll, path[0], 1);
    if (lane == 0) below = outer_below;
    if (lane == kLanes - 1) next = outer_above;
    float min_now = invalid_cost();
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const float same = path[i], above = i + 1 < kPlanes ? path[i + 1 < kPlanes ? i + 1 : i] : next;
      path[i] = scanline_cost(cost[i], same, below, above, min_cost, penalties(i));
      min_now = fminf(min_now, path[i]);
      below = same;
    }
    min_cost = min_of_warp(min_now);
    if (!kOneWarp) meet(lane);
  }

 private:
  __device__ void meet(int lane) {
    const int warp = static_cast<int>(threadIdx.x) / kLanes, warps = static_cast<int>(blockDim.x) / kLanes;
    Exchange& now = exchange[turn];
    turn ^= 1;
    if (lane == 0) now.min_cost[warp] = min_cost, now.first[warp] = path[0];
    if (lane == kLanes - 1) now.last[warp] = path[kPlanes - 1];
    __syncthreads();
    min_cost = min_of_warp(lane < warps ? now.min_cost[lane] : invalid_cost());
    outer_below = warp > 0 ? now.last[warp - 1] : invalid_cost();
    outer_above = warp + 1 < warps ? now.first[warp + 1] : invalid_cost();
  }
};

/// Addresses of the costs of a thread's planes in a row; those after the last plane are infinite.
struct RowPlanes {
  const float* costs;
  float* mean;
  std::ptrdiff_t pitch;
  int first, planes;

  template <int kPlanes, int kChunk>
  __device__ void load(const float* from, int x, float (&values)[kPlanes][kChunk]) const {
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      const bool there = first + i < planes;
#pragma unroll
      for (int k = 0; k < kChunk; k += 4) {
        float4 four = make_float4(invalid_cost(), invalid_cost(), invalid_cost(), invalid_cost());
        if (there) four = *reinterpret_cast<const float4*>(from + (first + i) * pitch + x + k);
        values[i][k] = four.x, values[i][k + 1] = four.y;
        values[i][k + 2] = four.z, values[i][k + 3] = four.w;
      }
    }
  }
  template <int kPlanes, int kChunk>
  __device__ void store(int x, const float (&values)[kPlanes][kChunk]) const {
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
      if (first + i >= planes) continue;
#pragma unroll
      for (int k = 0; k < kChunk; k += 4)
        *reinterpret_cast<float4*>(mean + (first + i) * pitch + x + k) =
            make_float4(values[i][k], values[i][k + 1], values[i][k + 2], values[i][k + 3]);
    }
  }
};

/// Edges that steps along a row cross, in shared memory.
struct RowEdges {
  const std::uint8_t* own;      ///< 3 if the step to the right of a boundary crosses an edge of the reference
  const std::uint8_t* matched;  ///< see fill_matched
  const ScanlineTable* penalties;
};

/// Processes the paths of a row in one direction. The costs of the next columns are prefetched. In the
/// padding columns after the row's end, path costs are undefined: paths to the left begin there and restart
/// at the last column.
template <bool kForward, int kPlanes, bool kOneWarp, int kChunk>
__device__ void follow_row(const ScanlineArgs& args, const RowPlanes& planes, const RowEdges& edges,
                           const int (&entries)[kPlanes], Exchange* exchange) {
  const int width = args.costs.width, chunks = divided_up(width, kChunk);
  RowPath<kPlanes, kOneWarp> path;
  path.begin(exchange);
  float next[kPlanes][kChunk], next_sum[kPlanes][kChunk] = {};
  const auto fetch = [&](int chunk) {
    const int x = (kForward ? chunk : chunks - 1 - chunk) * kChunk;
    planes.load(planes.costs, x, next);
    if (!kForward) planes.load(planes.mean, x, next_sum);
  };
  fetch(0);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int begin = (kForward ? chunk : chunks - 1 - chunk) * kChunk;
    float now[kPlanes][kChunk], sum[kPlanes][kChunk];
#pragma unroll
    for (int i = 0; i < kPlanes; ++i) {
#pragma unroll
      for (int k = 0; k < kChunk; ++k) now[i][k] = next[i][k], sum[i][k] = next_sum[i][k];
    }
    if (chunk + 1 < chunks) fetch(chunk + 1);
#pragma unroll
    for (int step = 0; step < kChunk; ++step) {
      const int k = kForward ? step : kChunk - 1 - step;
      if (!kForward && begin + k == width - 1) path.min_cost = invalid_cost();
      float cost[kPlanes];
#pragma unroll
      for (int i = 0; i < kPlanes; ++i) cost[i] = now[i][k];
      const int boundary = begin + (kForward ? k : k + 1), own = edges.own[boundary];
      path.step(cost, [&](int i) { return (*edges.penalties)(own + edges.matched[entries[i] + boundary]); });
#pragma unroll
      for (int i = 0; i < kPlanes; ++i) sum[i][k] = kForward ? path.path[i] : sum[i][k] + path.path[i];
    }
    planes.store(begin, sum);
  }
}

/// Edges of the reference, by boundary, and of the source, one entry for each of its steps that match those
/// of the row. Boundary x lies before column x; the first one and those after the last column are unused.
__device__ void fill_edges(const ScanlineArgs& args, std::ptrdiff_t row, std::uint8_t* own,
                           std::uint8_t* matched) {
  const int width = args.costs.width, planes = args.costs.planes, min = args.edges.min_disparity;
  const bool left = args.edges.side == PairSide::kLeft;
  const int first = left ? -min - (planes - 1) : min;  // step of the source at entry 0
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < width + kMargin; i += threads)
    own[i] = i < width && args.edges.reference[row + i] != 0 ? 3 : 0;
  for (int i = thread; i < width + kMargin + planes; i += threads) {
    const int u = first + i;
    const bool seen = args.edges.other != nullptr && u >= 1 && u < width;
    matched[i] = seen ? args.edges.other[row + u] : kUnseenStep;
  }
}

/// @tparam kChunk  columns whose costs a thread loads at a time: whole memory sectors if they fit
template <int kPlanes, bool kOneWarp, int kChunk, int kThreads>
__global__ void __launch_bounds__(kThreads) rows_kernel(ScanlineArgs args) {
  extern __shared__ std::uint8_t edge_bytes[];
  __shared__ Exchange exchange[2];
  __shared__ ScanlineTable penalties;
  const int y = static_cast<int>(blockIdx.x), count = args.costs.planes;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * args.costs.width;
  std::uint8_t *own = edge_bytes, *matched = edge_bytes + args.costs.width + kMargin;
  fill_edges(args, row, own, matched);
  if (threadIdx.x < 6) penalties.penalties[threadIdx.x] = args.penalties.penalties[threadIdx.x];
  __syncthreads();
  const bool left = args.edges.side == PairSide::kLeft;
  const RowPlanes planes{args.costs.row(y, 0), args.mean.row(y, 0), args.costs.pitch,
                         static_cast<int>(threadIdx.x) * kPlanes, count};
  const RowEdges edges{own, matched, &penalties};
  int entries[kPlanes];
  for (int i = 0; i < kPlanes; ++i) {
    const int d = min(planes.first + i, count - 1);
    entries[i] = left ? count - 1 - d : d;
  }
  follow_row<true, kPlanes, kOneWarp, kChunk>(args, planes, edges, entries, exchange);
  if (!kOneWarp) __syncthreads();
  follow_row<false, kPlanes, kOneWarp, kChunk>(args, planes, edges, entries, exchange);
}

template <int kPlanes, bool kOneWarp, int kChunk, int kThreads>
void launch(const ScanlineArgs& args, cudaStream_t stream) {
  constexpr int kOfWarp = kPlanes * kLanes;
  const int warps = kOneWarp ? 1 : divided_up(args.costs.planes, kOfWarp);
  const std::size_t shared = 2 * static_cast<std::size_t>(args.costs.width + kMargin) + args.costs.planes;
  const auto kernel = rows_kernel<kPlanes, kOneWarp, kChunk, kThreads>;
  constexpr std::size_t kAlways = std::size_t{46} << 10;  // max used without opt-in
  if (shared > kAlways) allow_shared_memory(kernel);
  kernel<<<static_cast<unsigned>(args.costs.height), static_cast<unsigned>(kLanes * warps), shared, stream>>>(
      args);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void launch_scanline_rows(const ScanlineArgs& args, cudaStream_t stream) {
  const int planes = args.costs.planes;
  if (planes <= kLanes) return launch<1, true, 16, kLanes>(args, stream);
  if (planes <= 2 * kLanes) return launch<2, true, 16, kLanes>(args, stream);
  if (planes <= 16 * kLanes) return launch<2, false, 8, 8 * kLanes>(args, stream);
  return launch<4, false, 4, 32 * kLanes>(args, stream);
}

}  // namespace recon::cuda

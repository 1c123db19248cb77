#include "cuda/device/error.hpp"
#include "cuda/optimize/path_kernels.hpp"
#include "cuda/optimize/path_shapes.cuh"
#include "cuda/optimize/path_vector.cuh"

namespace recon::cuda {
namespace {

constexpr int kRowThreads = 128;

/// The paths along the rows: a group of lanes walks one row, rightward where blockIdx.y is 0, else leftward.
/// Costs are read some steps ahead.
template <class Shape>
__global__ void __launch_bounds__(kRowThreads) rows_kernel(PathArgs a, RowPaths paths) {
  constexpr int kAhead = Shape::kCells <= 16 ? 4 : (Shape::kCells <= 32 ? 2 : 1);
  __shared__ std::uint32_t penalties[256];
  fill_penalties(a.options, penalties);
  const int row = static_cast<int>(blockIdx.x * (kRowThreads / Shape::kLanes) + threadIdx.x / Shape::kLanes);
  const bool inside = row < a.height, leftward = blockIdx.y == 1;
  const std::ptrdiff_t y = min(row, a.height - 1);
  const std::uint8_t* costs = a.costs + y * a.width * Shape::kPlanes;
  const std::uint8_t* guide = a.guide + y * a.guide_pitch;
  const std::uint32_t p1 = in_both_halves(static_cast<std::uint32_t>(a.options.p1));
  const auto column = [&](int step) {
    const int clamped = min(step, a.width - 1);
    return leftward ? a.width - 1 - clamped : clamped;
  };

  CostBytes<Shape> ahead[kAhead];
  int grey_ahead[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    const std::ptrdiff_t x = column(i);
    ahead[i].load(costs + x * Shape::kPlanes);
    grey_ahead[i] = guide[x];
  }
  PathVector<Shape> path;
  path.begin();
  int grey_before = grey_ahead[0];
  for (int step = 0; step < a.width; step += kAhead) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (step + i >= a.width) break;
      std::uint32_t cost[Shape::kPairs];
      ahead[i].unpack(a.planes, cost);
      const int grey = grey_ahead[i];
      const std::ptrdiff_t next = column(step + i + kAhead);
      ahead[i].load(costs + next * Shape::kPlanes);
      grey_ahead[i] = guide[next];
      advance(path, cost, p1, penalty_between(penalties, grey, grey_before));
      grey_before = grey;
      if (!inside) continue;
      const std::ptrdiff_t pixel = y * a.width + column(step + i);
      uint4* volume = leftward ? paths.leftward : paths.rightward;
      if (paths.bytes)
        store_bytes<Shape>(volume + pixel * (Shape::kVector / 2), path.pair);
      else
        store_pairs<Shape>(volume + pixel * Shape::kVector, path.pair);
    }
  }
}

}  // namespace

void launch_path_rows(const PathArgs& args, const RowPaths& paths, cudaStream_t stream) {
  with_path_shape(args.planes, [&](auto shape) {
    using Shape = decltype(shape);
    const int rows = kRowThreads / Shape::kLanes;
    const dim3 grid(static_cast<unsigned>((args.height + rows - 1) / rows), 2);
    rows_kernel<Shape><<<grid, kRowThreads, 0, stream>>>(args, paths);
    RECON_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace recon::cuda

#include "cuda/device/error.hpp"
#include "cuda/optimize/path_kernels.hpp"
#include "cuda/optimize/path_shapes.cuh"
#include "cuda/optimize/path_vector.cuh"

namespace recon::cuda {
namespace {

constexpr int kRowThreads = 128;

/// The paths along the rows: a group of lanes walks one row, rightward where blockIdx.y is 0, else leftward.
/// While it goes over a few pixels, the costs of the next few are read.
template <class Shape>
__global__ void __launch_bounds__(kRowThreads) rows_kernel(PathArgs a, RowPaths paths) {
  constexpr int kFew = Shape::kCells <= 8 ? 8 : (Shape::kCells <= 16 ? 4 : 1);
  __shared__ std::uint32_t penalties[256];
  fill_penalties(a.options, penalties);
  const int row = static_cast<int>(blockIdx.x * (kRowThreads / Shape::kLanes) + threadIdx.x / Shape::kLanes);
  const bool inside = row < a.height, leftward = blockIdx.y == 1;
  const std::ptrdiff_t y = min(row, a.height - 1);
  const std::uint8_t* costs = a.costs + y * a.width * Shape::kPlanes;
  const std::uint8_t* guide = a.guide + y * a.guide_pitch;
  const std::uint32_t p1 = in_both_halves(static_cast<std::uint32_t>(a.options.p1));
  const int in_few = static_cast<int>(threadIdx.x) % kFew;
  const auto column = [&](int step) {
    const int clamped = min(step, a.width - 1);
    return leftward ? a.width - 1 - clamped : clamped;
  };

  CostBytes<Shape> ahead[kFew];
#pragma unroll
  for (int i = 0; i < kFew; ++i)
    ahead[i].load(costs + static_cast<std::ptrdiff_t>(column(i)) * Shape::kPlanes);
  int grey_ahead = guide[column(in_few)];  // each lane one of the pixels
  PathVector<Shape> path;
  path.begin();
  int grey_before = guide[column(0)];
  for (int begin = 0; begin < a.width; begin += kFew) {
    CostBytes<Shape> now[kFew];
    const int greys = grey_ahead;
#pragma unroll
    for (int i = 0; i < kFew; ++i) now[i] = ahead[i];
#pragma unroll
    for (int i = 0; i < kFew; ++i)
      ahead[i].load(costs + static_cast<std::ptrdiff_t>(column(begin + kFew + i)) * Shape::kPlanes);
    grey_ahead = guide[column(begin + kFew + in_few)];
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      if (begin + i >= a.width) break;
      std::uint32_t cost[Shape::kPairs];
      now[i].unpack(a.planes, cost);
      const int grey = __shfl_sync(~0u, greys, i, kFew);
      const std::uint32_t p2 = penalty_between(penalties, grey, grey_before);
      advance<1>(&path, cost, p1, &p2);
      grey_before = grey;
      if (!inside) continue;
      const std::ptrdiff_t pixel = y * a.width + column(begin + i);
      uint4* volume = leftward ? paths.leftward : paths.rightward;
      if (paths.bytes)
        store_bytes<Shape>(volume, pixel, path.pair);
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

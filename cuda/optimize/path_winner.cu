#include "cuda/device/error.hpp"
#include "cuda/optimize/path_kernels.hpp"
#include "cuda/optimize/path_shapes.cuh"
#include "cuda/optimize/path_vector.cuh"

namespace recon::cuda {
namespace {

constexpr int kWinnerThreads = 256;
constexpr int kSegment = 128;  ///< pixels of a row that one block takes

/// The least over the group's lanes.
template <class Shape>
__device__ std::uint32_t group_min(std::uint32_t value) {
#pragma unroll
  for (int offset = Shape::kLanes / 2; offset > 0; offset /= 2)
    value = min(value, __shfl_xor_sync(~0u, value, offset, Shape::kLanes));
  return value;
}

/// S << 16 | plane of register j's planes, where the lane's planes begin at `first`.
__device__ std::uint32_t low_key(std::uint32_t pair, int plane) {
  return (pair << 16) + static_cast<std::uint32_t>(plane);
}
__device__ std::uint32_t high_key(std::uint32_t pair, int plane) {
  return (pair & 0xFFFF0000u) + static_cast<std::uint32_t>(plane);
}

/// What the winner's record says beside plane and cost, from the sums of one lane.
struct Surroundings {
  std::uint32_t before = kNoSum, after = kNoSum, second = kNoSum;

  __device__ void push(int from_winner, std::uint32_t sum) {
    if (from_winner == -1) before = sum;
    if (from_winner == 1) after = sum;
    if (abs(from_winner) > 1) second = min(second, sum);
  }
};

template <class Shape>
__device__ PathWinner winner_of(const std::uint32_t (&sum)[Shape::kPairs], int first) {
  std::uint32_t key = ~0u;
#pragma unroll
  for (int j = 0; j < Shape::kPairs; ++j)
    key = min(key, min(low_key(sum[j], first + j), high_key(sum[j], first + j + Shape::kPairs)));
  const std::uint32_t best = group_min<Shape>(key);
  const int plane = static_cast<int>(best & 0xFFFFu);
  Surroundings around;
  if (first > plane + 1 || first + Shape::kCells <= plane - 1) {
    around.second = key >> 16;
  } else {
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      around.push(first + j - plane, sum[j] & 0xFFFFu);
      around.push(first + j + Shape::kPairs - plane, sum[j] >> 16);
    }
  }
  const std::uint32_t before = group_min<Shape>(around.before), after = group_min<Shape>(around.after),
                      second = group_min<Shape>(around.second);
  return {static_cast<std::uint16_t>(plane), static_cast<std::uint16_t>(best >> 16),
          static_cast<std::uint16_t>(before), static_cast<std::uint16_t>(after),
          static_cast<std::uint16_t>(second)};
}

/// A block takes a piece of a row. The keys of the right pixels that its left pixels may match are gathered
/// in shared memory (`window`), then joined with those of the other blocks: a minimum, whatever the order.
template <class Shape>
__global__ void __launch_bounds__(kWinnerThreads)
    winner_kernel(PathArgs a, const uint4* sums, int min_disparity, PathWinner* winners,
                  std::uint32_t* right_keys) {
  constexpr int kPixels = kWinnerThreads / Shape::kLanes;
  constexpr int kWindow = kSegment + Shape::kPlanes - 1;
  __shared__ std::uint32_t window[kWindow];
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes, first = lane * Shape::kCells;
  const int segment = static_cast<int>(blockIdx.x) * kSegment;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(blockIdx.y) * a.width;
  if (right_keys)
    for (int i = static_cast<int>(threadIdx.x); i < kWindow; i += kWinnerThreads) window[i] = ~0u;
  __syncthreads();
  for (int begin = 0; begin < kSegment && segment + begin < a.width; begin += kPixels) {
    const int i = begin + static_cast<int>(threadIdx.x) / Shape::kLanes, x = segment + i;
    const bool inside = x < a.width;
    std::uint32_t sum[Shape::kPairs];
    load_pairs<Shape>(sums + (row + min(x, a.width - 1)) * Shape::kVector, sum);
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      if (first + j >= a.planes) sum[j] |= 0xFFFFu;
      if (first + j + Shape::kPairs >= a.planes) sum[j] |= 0xFFFF0000u;
    }
    const PathWinner winner = winner_of<Shape>(sum, first);
    if (inside && lane == 0) winners[row + x] = winner;
    if (!right_keys || !inside) continue;
    std::uint32_t* matched = window + i + Shape::kPlanes - 1 - first;
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      if (first + j < a.planes) atomicMin(matched - j, low_key(sum[j], first + j));
      if (first + j + Shape::kPairs < a.planes)
        atomicMin(matched - j - Shape::kPairs, high_key(sum[j], first + j + Shape::kPairs));
    }
  }
  if (!right_keys) return;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kWindow; i += kWinnerThreads) {
    const int x = segment + i - (Shape::kPlanes - 1) - min_disparity;
    if (window[i] != ~0u && x >= 0 && x < a.width) atomicMin(&right_keys[row + x], window[i]);
  }
}

}  // namespace

void launch_path_winner(const PathArgs& args, const uint4* sums, int min_disparity, PathWinner* winners,
                        std::uint32_t* right_keys, cudaStream_t stream) {
  with_path_shape(args.planes, [&](auto shape) {
    using Shape = decltype(shape);
    const dim3 grid(static_cast<unsigned>((args.width + kSegment - 1) / kSegment),
                    static_cast<unsigned>(args.height));
    winner_kernel<Shape><<<grid, kWinnerThreads, 0, stream>>>(args, sums, min_disparity, winners, right_keys);
    RECON_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace recon::cuda

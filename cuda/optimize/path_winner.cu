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

/// Keys of planes that are not searched are not below this.
inline constexpr std::uint32_t kNoKey = std::uint32_t{kNoSum} << 16;

/// Where entry i of the window is: the lanes of a group reach for entries 16 or more apart, which this puts
/// into different banks.
__host__ __device__ constexpr int banked(int i) {
  return i + i / 16 * 4;
}

/// The least sum of a lane's planes that are not adjacent to the winner.
template <class Shape>
__device__ std::uint32_t least_elsewhere(const std::uint32_t (&sum)[Shape::kPairs], int first, int winner) {
  const int from_before = first - winner + 1;  // 0, 1, 2: before the winner, the winner, after it
  std::uint32_t least = ~0u;
#pragma unroll
  for (int j = 0; j < Shape::kPairs; ++j) {
    const std::uint32_t low = static_cast<unsigned>(from_before + j) <= 2 ? 0xFFFFu : 0u;
    const std::uint32_t high = static_cast<unsigned>(from_before + j + Shape::kPairs) <= 2 ? 0xFFFF0000u : 0u;
    least = __vminu2(least, sum[j] | low | high);
  }
  return least_of_halves(least) & 0xFFFFu;
}

/// One sum of a pixel in memory.
template <class Shape>
__device__ std::uint16_t sum_at(const uint4* pixel, int plane) {
  const int lane = plane / Shape::kCells, cell = plane % Shape::kCells;
  const int pair = cell % Shape::kPairs, quad = pair / 4 * Shape::kLanes + lane;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(pixel + quad);
  return halves[pair % 4 * 2 + cell / Shape::kPairs];
}

template <class Shape>
__device__ PathWinner find_winner(const std::uint32_t (&sum)[Shape::kPairs], int first, int planes,
                                  const uint4* pixel) {
  std::uint32_t key = ~0u;
#pragma unroll
  for (int j = 0; j < Shape::kPairs; ++j)
    key = min(key, min(low_key(sum[j], first + j), high_key(sum[j], first + j + Shape::kPairs)));
  key = group_min<Shape>(key);
  const int plane = static_cast<int>(key & 0xFFFFu);
  const std::uint32_t second = group_min<Shape>(least_elsewhere<Shape>(sum, first, plane));
  PathWinner winner{static_cast<std::uint16_t>(plane), static_cast<std::uint16_t>(key >> 16), kNoSum, kNoSum,
                    static_cast<std::uint16_t>(second)};
  if (first > 0) return winner;
  if (plane > 0) winner.before = sum_at<Shape>(pixel, plane - 1);
  if (plane + 1 < planes) winner.after = sum_at<Shape>(pixel, plane + 1);
  return winner;
}

/// A block takes a piece of a row. The keys of the right pixels that its left pixels may match are gathered
/// in shared memory (`window`), then joined with those of the other blocks: a minimum, whatever the order.
template <class Shape>
__global__ void __launch_bounds__(kWinnerThreads)
    winner_kernel(PathArgs a, const uint4* sums, int min_disparity, PathWinner* winners,
                  std::uint32_t* right_keys) {
  constexpr int kPixels = kWinnerThreads / Shape::kLanes;
  constexpr int kWindow = kSegment + Shape::kPlanes - 1;
  __shared__ std::uint32_t window[banked(kWindow)];
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes, first = lane * Shape::kCells;
  const int segment = static_cast<int>(blockIdx.x) * kSegment;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(blockIdx.y) * a.width;
  if (right_keys)
    for (int i = static_cast<int>(threadIdx.x); i < banked(kWindow); i += kWinnerThreads) window[i] = ~0u;
  __syncthreads();
  for (int begin = 0; begin < kSegment && segment + begin < a.width; begin += kPixels) {
    const int i = begin + static_cast<int>(threadIdx.x) / Shape::kLanes, x = segment + i;
    const bool inside = x < a.width;
    std::uint32_t sum[Shape::kPairs];
    const uint4* pixel = sums + (row + min(x, a.width - 1)) * Shape::kVector;
    load_pairs<Shape>(pixel, sum);
    if (first + Shape::kCells > a.planes) {
#pragma unroll
      for (int j = 0; j < Shape::kPairs; ++j) {
        if (first + j >= a.planes) sum[j] |= 0xFFFFu;
        if (first + j + Shape::kPairs >= a.planes) sum[j] |= 0xFFFF0000u;
      }
    }
    const PathWinner winner = find_winner<Shape>(sum, first, a.planes, pixel);
    if (inside && lane == 0) winners[row + x] = winner;
    if (!right_keys || !inside) continue;
    const int matched = i + Shape::kPlanes - 1 - first;
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      atomicMin(&window[banked(matched - j)], low_key(sum[j], first + j));
      atomicMin(&window[banked(matched - j - Shape::kPairs)], high_key(sum[j], first + j + Shape::kPairs));
    }
  }
  if (!right_keys) return;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kWindow; i += kWinnerThreads) {
    const int x = segment + i - (Shape::kPlanes - 1) - min_disparity;
    const std::uint32_t key = window[banked(i)];
    if (key < kNoKey && x >= 0 && x < a.width) atomicMin(&right_keys[row + x], key);
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

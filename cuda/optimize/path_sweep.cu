#include "cuda/device/error.hpp"
#include "cuda/optimize/path_kernels.hpp"
#include "cuda/optimize/path_shapes.cuh"
#include "cuda/optimize/path_vector.cuh"

namespace recon::cuda {
namespace {

/// The directions of a sweep: the pixel before lies in the row before, in the same column, in the column to
/// the left, or in that to the right.
enum Direction { kStraight, kFromLeft, kFromRight, kDirections };

/// A sweep goes over its rows in strips of columns that move left by a pixel from row to row. Then what a
/// strip needs of the row before comes from itself and its left neighbour alone, so that strips follow one
/// another through the rows and never wait for both sides: pixel i of strip s is at column s w + i - row, and
/// the pixels before it were pixel i - 1 (straight), i - 2 (from the left) and i (from the right).
///
/// Strips are taken in order, by tickets: the left neighbour of one that runs runs too or is done.
template <class Shape>
struct Strips {
  static constexpr int kThreads = Shape::kCells == 16 ? 256 : (Shape::kCells == 32 ? 128 : 64);
  static constexpr int kWidth = kThreads / Shape::kLanes;
  /// Two rows take turns in shared memory, or, where both do not fit, one with a barrier more.
  static constexpr int kBuffers = Shape::kCells > 32 ? 1 : 2;
  static constexpr std::size_t kSharedBytes = kBuffers * 2 * kWidth * Shape::kSlot * sizeof(uint4);
};

template <class Shape>
__device__ void load_slot(const uint4* slot, PathVector<Shape>& path) {
  load_pairs<Shape>(slot, path.pair);
  path.least = slot[Shape::kVector].x;
}

template <class Shape>
__device__ void store_slot(uint4* slot, const PathVector<Shape>& path) {
  store_pairs<Shape>(slot, path.pair);
  if (threadIdx.x % Shape::kLanes == 0) slot[Shape::kVector].x = path.least;
}

/// Slots between strips that run at the same time: all bits 0 is empty, and each word that is there has its
/// highest bit set, so that no flag and no fence is needed. Who takes a slot leaves it empty.
inline constexpr std::uint32_t kThere = 0x80000000u;

/// A load that sees what other blocks store meanwhile.
__device__ uint4 look(const uint4* at) {
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at)
               : "memory");
  return v;
}

__device__ uint4 take(uint4* from) {
  uint4 v;
  do {
    v = look(from);
  } while ((v.x & v.y & v.z & v.w & kThere) == 0);
  *from = make_uint4(0, 0, 0, 0);
  return make_uint4(v.x & ~kThere, v.y & ~kThere, v.z & ~kThere, v.w & ~kThere);
}

__device__ void give(uint4* to, std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) {
  __stcg(to, make_uint4(x | kThere, y | kThere, z | kThere, w | kThere));
}

template <class Shape>
__device__ void give_slot(uint4* slot, const PathVector<Shape>& path) {
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
  for (int q = 0; q < Shape::kQuads; ++q)
    give(slot + q * Shape::kLanes + lane, path.pair[4 * q], path.pair[4 * q + 1], path.pair[4 * q + 2],
         path.pair[4 * q + 3]);
}

/// All but the least, which would have to be taken by each lane.
template <class Shape>
__device__ void take_slot(uint4* slot, PathVector<Shape>& path) {
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
  for (int q = 0; q < Shape::kQuads; ++q) {
    const uint4 v = take(slot + q * Shape::kLanes + lane);
    path.pair[4 * q] = v.x;
    path.pair[4 * q + 1] = v.y;
    path.pair[4 * q + 2] = v.z;
    path.pair[4 * q + 3] = v.w;
  }
}

template <class Shape>
__device__ void find_least(PathVector<Shape>& path) {
  std::uint32_t least = ~0u;
#pragma unroll
  for (const std::uint32_t p : path.pair) least = __vminu2(least, p);
  path.least = least_of_group<Shape>(least);
}

template <class Shape>
class StripWalk {
  using S = Strips<Shape>;

 public:
  __device__ StripWalk(const PathArgs& args, const SweepArgs& sweep, int upward, int strip, uint4* shared)
      : a_(args), sweep_(sweep), upward_(upward), strip_(strip), shared_(shared) {
    pixel_ = static_cast<int>(threadIdx.x) / Shape::kLanes;
    diagonals_ = args.options.paths == 8;
    rows_ = upward ? sweep.rows_up : sweep.rows_down;
    const int done = sweep.second_half ? args.height - rows_ : 0;
    first_row_ = upward ? args.height - 1 - done : done;
    resumed_ = done > 0;
  }

  __device__ void walk(const std::uint32_t (&penalties)[256]) {
    const int left = strip_ * S::kWidth;
    const int begin = max(0, left - a_.width + 1), end = min(rows_, left + S::kWidth);
    CostBytes<Shape> ahead;
    ahead.load(costs_at(left + pixel_ - begin, begin));
    for (int row = begin; row < end; ++row) {
      const int x = left + pixel_ - row;
      std::uint32_t cost[Shape::kPairs];
      ahead.unpack(a_.planes, cost);
      if (row + 1 < end) ahead.load(costs_at(x - 1, row + 1));
      const bool inside = x >= 0 && x < a_.width, some = __any_sync(~0u, inside);
      if (some) {
        read_before(x, row, inside);
      }
      if (S::kBuffers == 1) __syncthreads();
      if (some) {
        step(x, row, penalties, cost);
        if (inside) store_sums(x, row);
        hand_on(x, row, inside);
      }
      __syncthreads();
    }
  }

 private:
  __device__ std::ptrdiff_t y_of(int row) const { return upward_ ? first_row_ - row : first_row_ + row; }

  __device__ const std::uint8_t* costs_at(int x, int row) const {
    const int column = min(max(x, 0), a_.width - 1);
    return a_.costs + (y_of(row) * a_.width + column) * Shape::kPlanes;
  }
  __device__ uint4* shared_slot(int row, int direction, int i) const {
    return shared_ + ((row % S::kBuffers * 2 + direction) * S::kWidth + i) * Shape::kSlot;
  }
  /// What a strip hands to the next in a row: its last pixel's straight path, and the last two from the left.
  __device__ uint4* border(int strip, int row) const {
    const std::ptrdiff_t line =
        (static_cast<std::ptrdiff_t>(upward_) * sweep_.strips + strip) * sweep_.border_rows + row;
    return sweep_.borders + line * 3 * Shape::kVector;
  }
  __device__ uint4* state(int direction, int x) const {
    return sweep_.states +
           (static_cast<std::ptrdiff_t>(upward_ * kDirections + direction) * a_.width + x) * Shape::kSlot;
  }
  /// The paths at the pixels before; where there is none the path begins.
  __device__ void read_before(int x, int row, bool inside) {
    if (row == 0) {
      read_state(kStraight, x, inside, straight_);
      read_state(kFromLeft, x - 1, inside, from_left_);
      read_state(kFromRight, x + 1, inside, from_right_);
      return;
    }
    const bool from_strip = pixel_ < 2 && inside && (pixel_ == 0 || x > 0);
    const bool some_from_strip = __any_sync(~0u, from_strip);
    if (from_strip && pixel_ == 0)
      take_slot(border(strip_ - 1, row - 1), straight_);
    else
      load_slot(shared_slot(row - 1, kStraight, pixel_), straight_);
    if (some_from_strip) find_least(straight_);
    if (!diagonals_) return;
    if (from_strip && x > 0)
      take_slot(border(strip_ - 1, row - 1) + (1 + pixel_) * Shape::kVector, from_left_);
    else
      load_slot(shared_slot(row - 1, kFromLeft, pixel_), from_left_);
    if (some_from_strip) find_least(from_left_);
    if (x == 0) from_left_.begin();
    if (x == a_.width - 1) from_right_.begin();
  }

  __device__ void read_state(int direction, int x, bool inside, PathVector<Shape>& path) const {
    if (resumed_ && inside && x >= 0 && x < a_.width)
      load_slot(state(direction, x), path);
    else
      path.begin();
  }

  __device__ void step(int x, int row, const std::uint32_t (&penalties)[256],
                       const std::uint32_t (&cost)[Shape::kPairs]) {
    const std::uint32_t p1 = in_both_halves(static_cast<std::uint32_t>(a_.options.p1));
    const std::ptrdiff_t y = y_of(row), before = min(max(upward_ ? y + 1 : y - 1, std::ptrdiff_t{0}),
                                                     static_cast<std::ptrdiff_t>(a_.height - 1));
    const int column = min(max(x, 0), a_.width - 1);
    const std::uint8_t* greys = a_.guide + before * a_.guide_pitch;
    const int grey = a_.guide[y * a_.guide_pitch + column];
    advance(straight_, cost, p1, penalty_between(penalties, grey, greys[column]));
    if (!diagonals_) return;
    advance(from_left_, cost, p1, penalty_between(penalties, grey, greys[max(column - 1, 0)]));
    advance(from_right_, cost, p1, penalty_between(penalties, grey, greys[min(column + 1, a_.width - 1)]));
  }

  __device__ void store_sums(int x, int row) const {
    std::uint32_t sum[Shape::kPairs];
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      sum[j] = straight_.pair[j];
      if (diagonals_) sum[j] += from_left_.pair[j] + from_right_.pair[j];
    }
    const std::ptrdiff_t pixel = y_of(row) * a_.width + x;
    uint4* sums = sweep_.sums + pixel * Shape::kVector;
    if (sweep_.second_half) {
      add_pairs<Shape>(sums, sum);
      if (sweep_.row_paths.bytes) {
        add_bytes<Shape>(sweep_.row_paths.rightward + pixel * (Shape::kVector / 2), sum);
        add_bytes<Shape>(sweep_.row_paths.leftward + pixel * (Shape::kVector / 2), sum);
      } else {
        add_pairs<Shape>(sweep_.row_paths.rightward + pixel * Shape::kVector, sum);
        add_pairs<Shape>(sweep_.row_paths.leftward + pixel * Shape::kVector, sum);
      }
    }
    store_pairs<Shape>(sums, sum);
  }

  /// To the pixels that come after: of this strip, of the next one, or, from the last row, of the second
  /// half.
  __device__ void hand_on(int x, int row, bool inside) const {
    if (row == rows_ - 1) {
      if (inside && !sweep_.second_half) keep_state(x);
      return;
    }
    if (pixel_ + 1 < S::kWidth)
      store_slot(shared_slot(row, kStraight, pixel_ + 1), straight_);
    else if (inside)
      give_slot(border(strip_, row), straight_);
    if (!diagonals_) return;
    if (pixel_ + 2 < S::kWidth)
      store_slot(shared_slot(row, kFromLeft, pixel_ + 2), from_left_);
    else if (inside && x + 1 < a_.width)
      give_slot(border(strip_, row) + (pixel_ + 3 - S::kWidth) * Shape::kVector, from_left_);
  }

  __device__ void keep_state(int x) const {
    store_slot(state(kStraight, x), straight_);
    if (!diagonals_) return;
    store_slot(state(kFromLeft, x), from_left_);
    store_slot(state(kFromRight, x), from_right_);
  }

  const PathArgs& a_;
  const SweepArgs& sweep_;
  int upward_, strip_, pixel_;
  int rows_, first_row_;
  bool diagonals_;
  bool resumed_;  ///< rows before the first one were met by the first half
  uint4* shared_;
  PathVector<Shape> straight_, from_left_, from_right_;
};

template <class Shape>
__global__ void __launch_bounds__(Strips<Shape>::kThreads) sweep_kernel(PathArgs args, SweepArgs sweep) {
  extern __shared__ uint4 shared[];
  __shared__ std::uint32_t penalties[256];
  __shared__ unsigned ticket;
  const int upward = static_cast<int>(blockIdx.x) % 2;
  if (threadIdx.x == 0) ticket = atomicAdd(&sweep.tickets[upward], 1u);
  fill_penalties(args.options, penalties);
  StripWalk<Shape> walk(args, sweep, upward, static_cast<int>(ticket), shared);
  walk.walk(penalties);
}

}  // namespace

SweepShape sweep_shape(int planes) {
  SweepShape result{};
  with_path_shape(planes, [&](auto shape) {
    using Shape = decltype(shape);
    result = {Strips<Shape>::kWidth, Shape::kSlot, Shape::kVector};
  });
  return result;
}

void launch_path_sweep(const PathArgs& args, const SweepArgs& sweep, cudaStream_t stream) {
  with_path_shape(args.planes, [&](auto shape) {
    using Shape = decltype(shape);
    constexpr std::size_t bytes = Strips<Shape>::kSharedBytes;
    RECON_CUDA_TRY(cudaFuncSetAttribute(sweep_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)));
    sweep_kernel<Shape>
        <<<static_cast<unsigned>(2 * sweep.strips), Strips<Shape>::kThreads, bytes, stream>>>(args, sweep);
    RECON_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace recon::cuda

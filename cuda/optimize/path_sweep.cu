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
  static constexpr int kThreads = Shape::kCells <= 32 ? 4096 / Shape::kCells : 64;
  static constexpr int kWidth = kThreads / Shape::kLanes;
  /// Few enough for the rows' blocks to run beside.
  static constexpr int kRegisters = Shape::kCells == 8 ? 80 : (Shape::kCells <= 32 ? 168 : 255);
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

/// Waits for a piece of which `seen` was there when looked at earlier.
__device__ uint4 take(uint4* from, uint4 seen) {
  while ((seen.x & seen.y & seen.z & seen.w & kThere) == 0) seen = look(from);
  *from = make_uint4(0, 0, 0, 0);
  return make_uint4(seen.x & ~kThere, seen.y & ~kThere, seen.z & ~kThere, seen.w & ~kThere);
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

/// A slot that is looked at a row before it is needed; by then it is there, as a rule.
template <class Shape>
struct Expected {
  uint4 seen[Shape::kQuads];

  __device__ void look_at(const uint4* slot) {
    const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
    for (int q = 0; q < Shape::kQuads; ++q) seen[q] = look(slot + q * Shape::kLanes + lane);
  }
  /// All but the least, which would have to be taken by each lane.
  __device__ void take_from(uint4* slot, PathVector<Shape>& path) const {
    const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
    for (int q = 0; q < Shape::kQuads; ++q) {
      const uint4 v = take(slot + q * Shape::kLanes + lane, seen[q]);
      path.pair[4 * q] = v.x;
      path.pair[4 * q + 1] = v.y;
      path.pair[4 * q + 2] = v.z;
      path.pair[4 * q + 3] = v.w;
    }
  }
};

template <class Shape>
__device__ std::uint32_t least_of_pairs(const PathVector<Shape>& path) {
  std::uint32_t least = ~0u;
#pragma unroll
  for (const std::uint32_t p : path.pair) least = __vminu2(least, p);
  return least_of_halves(least);
}

/// What the second half adds to its own paths, the sums of the first half and the paths along the rows; read
/// a row before it is needed where the registers suffice.
template <class Shape>
struct StoredSums {
  static constexpr bool kAhead = Shape::kCells <= 16;
  static constexpr int kQuads = kAhead ? Shape::kQuads : 1;
  uint4 sums[kQuads];
  typename Shape::Bytes rightward, leftward;

  __device__ void load(const SweepArgs& a, std::ptrdiff_t pixel) {
    if (!kAhead) return;
    const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) sums[q] = a.sums[pixel * Shape::kVector + q * Shape::kLanes + lane];
    if (!a.row_paths.bytes) return;
    rightward = *byte_pieces<Shape>(a.row_paths.rightward, pixel);
    leftward = *byte_pieces<Shape>(a.row_paths.leftward, pixel);
  }
  __device__ void add(const SweepArgs& a, std::ptrdiff_t pixel, std::uint32_t (&sum)[Shape::kPairs]) const {
    if (kAhead) {
#pragma unroll
      for (int q = 0; q < kQuads; ++q) add_quad(sums[q], &sum[4 * q]);
    } else {
      add_pairs<Shape>(a.sums + pixel * Shape::kVector, sum);
    }
    if (!a.row_paths.bytes) {
      add_pairs<Shape>(a.row_paths.rightward + pixel * Shape::kVector, sum);
      add_pairs<Shape>(a.row_paths.leftward + pixel * Shape::kVector, sum);
    } else if (kAhead) {
      add_byte_piece(rightward, &sum[0]);
      add_byte_piece(leftward, &sum[0]);
    } else {
      add_bytes<Shape>(a.row_paths.rightward, pixel, sum);
      add_bytes<Shape>(a.row_paths.leftward, pixel, sum);
    }
  }
};

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
    if (begin >= end) return;
    int x = left + pixel_ - begin;
    int at = static_cast<int>(y_of(begin)) * a_.width + x;  // of the pixel in the image
    const int to_next = (upward_ ? -a_.width : a_.width) - 1;
    Ahead ahead;
    look_ahead(x, begin, at, ahead);
    ahead.from_right = begin > 0 || resumed_ ? grey_at(x + 1, begin - 1) : 0;
    for (int row = begin; row < end; ++row, --x, at += to_next) {
      const bool inside = is_column(x), some = __any_sync(~0u, inside);
      std::uint32_t cost[Shape::kPairs];
      ahead.costs.unpack(a_.planes, cost);
      const std::uint32_t p2[kDirections] = {penalty_between(penalties, ahead.own, ahead.straight),
                                             penalty_between(penalties, ahead.own, ahead.from_left),
                                             penalty_between(penalties, ahead.own, ahead.from_right)};
      if (some) read_before(x, row, inside);
      const StoredSums<Shape> stored = ahead.stored;
      ahead.from_right = ahead.own;
      if (row + 1 < end) look_ahead(x - 1, row + 1, at + to_next, ahead);
      if (S::kBuffers == 1) __syncthreads();
      if (some) {
        step(at, inside, stored, p2, cost);
        hand_on(x, row, inside);
      }
      __syncthreads();
    }
  }

 private:
  /// What is read of a pixel a row before it is its turn.
  struct Ahead {
    CostBytes<Shape> costs;
    StoredSums<Shape> stored;
    int own = 0, straight = 0, from_left = 0, from_right = 0;  ///< grey levels, here and at the pixels before
  };

  __device__ bool is_column(int x) const {
    return static_cast<unsigned>(x) < static_cast<unsigned>(a_.width);
  }

  /// All but the grey level to the right, which was `own` in the row before.
  __device__ void look_ahead(int x, int row, int at, Ahead& ahead) {
    if (is_column(x)) {
      ahead.costs.load(a_.costs + static_cast<std::ptrdiff_t>(at) * Shape::kPlanes);
      if (sweep_.second_half) ahead.stored.load(sweep_, at);
      const std::uint8_t* greys = a_.guide + y_of(row) * a_.guide_pitch + x;
      ahead.own = greys[0];
      if (row > 0 || resumed_) {
        greys += upward_ ? a_.guide_pitch : -a_.guide_pitch;
        ahead.straight = greys[0];
        ahead.from_left = greys[x > 0 ? -1 : 0];
      }
    }
    if (pixel_ < 2) expect(x, row);
  }

  __device__ std::ptrdiff_t y_of(int row) const { return upward_ ? first_row_ - row : first_row_ + row; }

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
  __device__ int grey_at(int x, int row) const {
    const std::ptrdiff_t y = min(max(static_cast<int>(y_of(row)), 0), a_.height - 1);
    return a_.guide[y * a_.guide_pitch + min(max(x, 0), a_.width - 1)];
  }
  /// Whether the pixel's straight path, or that from the left, comes from the strip to the left.
  __device__ bool takes_straight(int x, int row) const { return pixel_ == 0 && row > 0 && is_column(x); }
  __device__ bool takes_from_left(int x, int row) const {
    return diagonals_ && row > 0 && x > 0 && is_column(x);
  }
  __device__ uint4* straight_border(int row) const { return border(strip_ - 1, row - 1); }
  __device__ uint4* left_border(int row) const {
    return border(strip_ - 1, row - 1) + (1 + pixel_) * Shape::kVector;
  }
  __device__ void expect(int x, int row) {
    if (takes_straight(x, row)) straight_expected_.look_at(straight_border(row));
    if (takes_from_left(x, row)) left_expected_.look_at(left_border(row));
  }

  /// The paths at the pixels before; where there is none the path begins.
  __device__ void read_before(int x, int row, bool inside) {
    if (row == 0) {
      read_state(kStraight, x, inside, path_[kStraight]);
      read_state(kFromLeft, x - 1, inside, path_[kFromLeft]);
      read_state(kFromRight, x + 1, inside, path_[kFromRight]);
      return;
    }
    const bool straight = pixel_ == 0 && inside, left = diagonals_ && pixel_ < 2 && inside && x > 0;
    if (straight)
      straight_expected_.take_from(straight_border(row), path_[kStraight]);
    else
      load_slot(shared_slot(row - 1, kStraight, pixel_), path_[kStraight]);
    if (diagonals_) {
      if (left)
        left_expected_.take_from(left_border(row), path_[kFromLeft]);
      else
        load_slot(shared_slot(row - 1, kFromLeft, pixel_), path_[kFromLeft]);
    }
    if (threadIdx.x < 32 || Shape::kLanes == 32) {
      if (__any_sync(~0u, straight || left)) find_leasts(straight, left);
    }
    if (x == 0) path_[kFromLeft].begin();
    if (x == a_.width - 1) path_[kFromRight].begin();
  }

  __device__ void find_leasts(bool straight, bool left) {
    std::uint32_t least[1] = {low_halves(least_of_pairs(path_[kStraight]), least_of_pairs(path_[kFromLeft]))};
    least_of_lanes<Shape>(least);
    if (straight) path_[kStraight].least = low_halves(least[0], least[0]);
    if (left) path_[kFromLeft].least = high_halves(least[0], least[0]);
  }

  __device__ void read_state(int direction, int x, bool inside, PathVector<Shape>& path) const {
    if (resumed_ && inside && x >= 0 && x < a_.width)
      load_slot(state(direction, x), path);
    else
      path.begin();
  }

  __device__ void step(int at, bool inside, const StoredSums<Shape>& stored,
                       const std::uint32_t (&p2)[kDirections], const std::uint32_t (&cost)[Shape::kPairs]) {
    const std::uint32_t p1 = in_both_halves(static_cast<std::uint32_t>(a_.options.p1));
    if (diagonals_)
      advance<kDirections, Shape>(path_, cost, p1, p2);
    else
      advance<1, Shape>(path_, cost, p1, p2);
    std::uint32_t sum[Shape::kPairs];
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      sum[j] = path_[kStraight].pair[j];
      if (diagonals_) sum[j] += path_[kFromLeft].pair[j] + path_[kFromRight].pair[j];
    }
    if (!inside) return;
    if (sweep_.second_half) stored.add(sweep_, at, sum);
    store_pairs<Shape>(sweep_.sums + static_cast<std::ptrdiff_t>(at) * Shape::kVector, sum);
  }

  /// To the pixels that come after: of this strip, of the next one, or, from the last row, of the second
  /// half.
  __device__ void hand_on(int x, int row, bool inside) const {
    if (row == rows_ - 1) {
      if (inside && !sweep_.second_half) keep_state(x);
      return;
    }
    if (pixel_ + 1 < S::kWidth)
      store_slot(shared_slot(row, kStraight, pixel_ + 1), path_[kStraight]);
    else if (inside)
      give_slot(border(strip_, row), path_[kStraight]);
    if (!diagonals_) return;
    if (pixel_ + 2 < S::kWidth)
      store_slot(shared_slot(row, kFromLeft, pixel_ + 2), path_[kFromLeft]);
    else if (inside && x + 1 < a_.width)
      give_slot(border(strip_, row) + (pixel_ + 3 - S::kWidth) * Shape::kVector, path_[kFromLeft]);
  }

  __device__ void keep_state(int x) const {
    store_slot(state(kStraight, x), path_[kStraight]);
    if (!diagonals_) return;
    store_slot(state(kFromLeft, x), path_[kFromLeft]);
    store_slot(state(kFromRight, x), path_[kFromRight]);
  }

  const PathArgs& a_;
  const SweepArgs& sweep_;
  int upward_, strip_, pixel_;
  int rows_, first_row_;
  bool diagonals_;
  bool resumed_;  ///< rows before the first one were met by the first half
  uint4* shared_;
  PathVector<Shape> path_[kDirections];
  Expected<Shape> straight_expected_, left_expected_;
};

template <class Shape>
__global__ void __maxnreg__(Strips<Shape>::kRegisters) sweep_kernel(PathArgs args, SweepArgs sweep) {
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

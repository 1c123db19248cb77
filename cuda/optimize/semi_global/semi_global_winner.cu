#include "cuda/device/grid.hpp"
#include "cuda/optimize/semi_global/path_vector.cuh"

namespace recon::cuda {
namespace {

constexpr int kWinnerThreads = 256;

/// Keys of planes that are not searched are at least this.
inline constexpr std::uint32_t kNoKey = std::uint32_t{kNoSum} << 16;

__device__ std::uint32_t key_of(std::uint32_t sum, int plane) {
  return (sum << 16) + static_cast<std::uint32_t>(plane);
}

/// Min search over sums. Sums of byte costs are below 2^11, so 16 bits hold the sum and, in the low bits, the
/// plane index within the piece: one min operation finds both.
template <bool kWords>
class LeastOfPiece {
 public:
  /// The comparison value of register j of a piece.
  __device__ static std::uint32_t word(std::uint32_t sums, int j) {
    return sums * 32 + static_cast<std::uint32_t>(j | (j + kPiecePairs) << 16);
  }
  __device__ static std::uint32_t sum_of(std::uint32_t half) { return half == 0xFFFFu ? kNoSum : half >> 5; }
  __device__ void meet(std::uint32_t word, int) { least_ = __vminu2(least_, word); }
  __device__ std::uint32_t low_key(int piece) const { return key(least_ & 0xFFFFu, piece); }
  __device__ std::uint32_t high_key(int piece) const { return key(least_ >> 16, piece); }

 private:
  __device__ static std::uint32_t key(std::uint32_t half, int piece) {
    return half == 0xFFFFu ? ~0u : key_of(half >> 5, piece * kPiecePlanes + static_cast<int>(half & 31u));
  }
  std::uint32_t least_ = ~0u;
};

/// 16-bit sums leave no space for the index: the register of the min is stored separately.
template <>
class LeastOfPiece<true> {
 public:
  __device__ static std::uint32_t word(std::uint32_t sums, int) { return sums; }
  __device__ static std::uint32_t sum_of(std::uint32_t half) { return half; }
  __device__ void meet(std::uint32_t word, int j) {
    bool high_stays, low_stays;
    least_ = __vibmin_u16x2(least_, word, &high_stays, &low_stays);
    low_ = low_stays ? low_ : j;
    high_ = high_stays ? high_ : j;
  }
  __device__ std::uint32_t low_key(int piece) const {
    return key_of(least_ & 0xFFFFu, piece * kPiecePlanes + low_);
  }
  __device__ std::uint32_t high_key(int piece) const {
    return key_of(least_ >> 16, piece * kPiecePlanes + kPiecePairs + high_);
  }

 private:
  std::uint32_t least_ = ~0u;
  int low_ = 0, high_ = 0;
};

/// A thread block's sums in shared memory: comparison values (see LeastOfPiece) by (register of the pixel,
/// pixel), padded on both sides for the diagonals beyond the thread block's pixels.
template <class Shape>
struct Segment {
  static constexpr int kPixels =
      Shape::kPlanes <= 128 ? 128 : (Shape::kPlanes <= 256 ? 64 : (Shape::kPlanes <= 1024 ? 32 : 8));
  static constexpr int kSide = kPiecePairs - 1;
  static constexpr int kPitch = (kPixels + 2 * kSide) | 1;
  static constexpr int kRegisters = Shape::kPlanes / 2;
  /// The lanes of a group write registers 8 apart: these are mapped to different banks.
  __host__ __device__ static constexpr int row(int reg) { return reg * kPitch + reg / 32 * 4; }
  static constexpr int kWords = row(kRegisters - 1) + kPitch;
  static constexpr int kWindow = kPixels + Shape::kPlanes - 1;  ///< right pixels of possible matches
  static constexpr std::size_t kBytes =
      (static_cast<std::size_t>(kWords) + kWindow + 2 * kPixels) * sizeof(std::uint32_t);
};

template <class Shape>
__device__ std::uint32_t group_min(std::uint32_t value) {
#pragma unroll
  for (int offset = Shape::kLanes / 2; offset > 0; offset /= 2)
    value = min(value, __shfl_xor_sync(~0u, value, offset, Shape::kLanes));
  return value;
}

/// Adds the values of the lane's planes in four byte volumes, from `first` on.
template <class Shape, bool kFew>
__device__ void add_byte_volumes(const uint4* first, std::ptrdiff_t stride,
                                 std::uint32_t (&sum)[Shape::kPairs]) {
  constexpr std::uint32_t kEven = 0x00FF00FFu;
#pragma unroll
  for (int q = 0; q < Shape::kPieces; ++q) {
    std::uint32_t word[4][4];
#pragma unroll
    for (int v = 0; v < 4; ++v) get_words(__ldcs(first + v * stride + q), word[v]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t &even = sum[8 * q + 2 * i], &odd = sum[8 * q + 2 * i + 1];
      if (kFew) {
        const std::uint32_t a = word[0][i] + word[1][i], b = word[2][i] + word[3][i];
        even += (a & kEven) + (b & kEven);
        odd += __byte_perm(a, 0, 0x4341) + __byte_perm(b, 0, 0x4341);
      } else {
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          even += word[v][i] & kEven;
          odd += __byte_perm(word[v][i], 0, 0x4341);
        }
      }
    }
  }
}

template <class Shape, PathStorage kStorage>
__device__ void load_sums(const PathVolumes& volumes, std::ptrdiff_t pixel,
                          std::uint32_t (&sum)[Shape::kPairs]) {
#pragma unroll
  for (std::uint32_t& s : sum) s = 0;
  if constexpr (kStorage == PathStorage::kWords) {
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      if (v >= volumes.count) break;
      StoredPairs<Shape> pairs;
      pairs.load(volumes.first + v * volumes.stride + pairs_of_lane<Shape>(pixel));
      pairs.add_to(sum);
    }
  } else {
    constexpr bool kFew = kStorage == PathStorage::kFewBytes;
    const uint4* first = volumes.first + pixel * Shape::kPixel + lane_of_group<Shape>() * Shape::kPieces;
    add_byte_volumes<Shape, kFew>(first, volumes.stride, sum);
    if (volumes.count == 8) add_byte_volumes<Shape, kFew>(first + 4 * volumes.stride, volumes.stride, sum);
  }
}

/// Mask of the halves of register j that belong to planes from `end` on, relative to the piece's first.
__device__ std::uint32_t halves_from(int end, int j) {
  return (j >= end ? 0xFFFFu : 0u) | (j + kPiecePairs >= end ? 0xFFFF0000u : 0u);
}

/// The min sum of a lane's planes that are not adjacent to the winner.
/// @param winner  relative to the lane's first plane
template <class Shape, bool kWords>
__device__ std::uint32_t min_elsewhere(const std::uint32_t (&sum)[Shape::kPairs], int winner) {
  std::uint32_t least = ~0u;
#pragma unroll
  for (int q = 0; q < Shape::kPieces; ++q) {
    const int place = winner - q * kPiecePlanes;
    const std::uint32_t near = place >= -1 && place <= kPiecePlanes ? 7u << (place + 1) >> 2 : 0u;
    const std::uint32_t halves = (near & 0xFFu) | (near >> 8 & 0xFFu) << 16;
#pragma unroll
    for (int j = 0; j < kPiecePairs; ++j) {
      const std::uint32_t s = sum[8 * q + j];
      if (kWords)
        least = __vminu2(least, s | (halves >> j & 0x10001u) * 0xFFFFu);
      else
        least = __viaddmin_u16x2(s, halves << (15 - j) & 0x80008000u, least);
    }
  }
  least = min_of_halves(least) & 0xFFFFu;
  // Byte sums with the highest bit set, and sums of planes that are not searched, are not valid.
  return kWords || least < 0x7FFFu ? least : std::uint32_t{kNoSum};
}

/// Shared memory of a thread block.
template <class Shape>
struct Shared {
  using S = Segment<Shape>;
  std::uint32_t *words, *window, *keys, *seconds;

  __device__ explicit Shared(std::uint32_t* memory)
      : words(memory), window(words + S::kWords), keys(window + S::kWindow), seconds(keys + S::kPixels) {}
  __device__ std::uint32_t half_at(int plane, int pixel) const {
    const int in_piece = plane % kPiecePlanes;
    const int reg = plane / kPiecePlanes * kPiecePairs + in_piece % kPiecePairs;
    const std::uint32_t word = words[S::row(reg) + S::kSide + pixel];
    return in_piece < kPiecePairs ? word & 0xFFFFu : word >> 16;
  }
  /// Initializes the padding of the diagonals, and the keys of the right pixels.
  __device__ void clear() const {
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < S::kRegisters * 2 * S::kSide; i += kWinnerThreads) {
      const int reg = i / (2 * S::kSide), at = i % (2 * S::kSide);
      words[S::row(reg) + (at < S::kSide ? at : at + S::kPixels)] = ~0u;
    }
    for (int i = thread; i < S::kWindow; i += kWinnerThreads) window[i] = ~0u;
  }
};

/// Selects one pixel's winner by a group of lanes and writes its sums to shared memory.
/// @param i  relative to the thread block's first pixel
template <class Shape, PathStorage kStorage>
__device__ void meet_pixel(const PathVolumes& volumes, int planes, std::ptrdiff_t pixel, int i, bool inside,
                           const Shared<Shape>& shared) {
  constexpr bool kWords = kStorage == PathStorage::kWords;
  using Least = LeastOfPiece<kWords>;
  const int lane = lane_of_group<Shape>(), first = lane * Shape::kCells;
  std::uint32_t sum[Shape::kPairs], key = ~0u;
  load_sums<Shape, kStorage>(volumes, pixel, sum);
  const int searched = inside ? planes - first : 0;
  const int reg = lane * Shape::kPairs;
#pragma unroll
  for (int q = 0; q < Shape::kPieces; ++q) {
    std::uint32_t word[kPiecePairs];
#pragma unroll
    for (int j = 0; j < kPiecePairs; ++j) word[j] = Least::word(sum[8 * q + j], j);
    if (searched < (q + 1) * kPiecePlanes) {
#pragma unroll
      for (int j = 0; j < kPiecePairs; ++j) {
        const std::uint32_t none = halves_from(searched - q * kPiecePlanes, j);
        sum[8 * q + j] |= none;
        word[j] |= none;
      }
    }
    Least least;
#pragma unroll
    for (int j = 0; j < kPiecePairs; ++j) {
      least.meet(word[j], j);
      shared
          .words[Segment<Shape>::row(reg + 8 * q) + j * Segment<Shape>::kPitch + Segment<Shape>::kSide + i] =
          word[j];
    }
    const int piece = lane * Shape::kPieces + q;
    key = min(key, min(least.low_key(piece), least.high_key(piece)));
  }
  key = group_min<Shape>(key);
  const int plane = static_cast<int>(key & 0xFFFFu);
  const std::uint32_t second = group_min<Shape>(min_elsewhere<Shape, kWords>(sum, plane - first));
  if (lane > 0) return;
  shared.keys[i] = key;
  shared.seconds[i] = second;
}

/// One thread per pixel of the thread block.
template <class Shape, bool kWords>
__device__ void store_winners(const Shared<Shape>& shared, int planes, int pixels, PathWinner* winners) {
  for (int i = static_cast<int>(threadIdx.x); i < pixels; i += kWinnerThreads) {
    const std::uint32_t key = shared.keys[i];
    const int plane = static_cast<int>(key & 0xFFFFu);
    const auto sum_at = [&](int d) {
      return static_cast<std::uint16_t>(LeastOfPiece<kWords>::sum_of(shared.half_at(d, i)));
    };
    PathWinner winner{static_cast<std::uint16_t>(plane), static_cast<std::uint16_t>(key >> 16), kNoSum,
                      kNoSum, static_cast<std::uint16_t>(shared.seconds[i])};
    if (plane > 0) winner.before = sum_at(plane - 1);
    if (plane + 1 < planes) winner.after = sum_at(plane + 1);
    winners[i] = winner;
  }
}

/// The min keys of the right pixels: plane d of left pixel i belongs to right pixel i - d, which is entry
/// i - d + kPlanes - 1 of the window. One thread follows, through one piece of the planes, the diagonal of
/// the low halves; that of the high halves is 8 pixels to the left.
template <class Shape, bool kWords>
__device__ void meet_diagonals(const Shared<Shape>& shared, int planes) {
  using S = Segment<Shape>;
  constexpr int kStarts = S::kPixels + S::kSide;
  const int pieces = (planes + kPiecePlanes - 1) / kPiecePlanes;
  for (int i = static_cast<int>(threadIdx.x); i < pieces * kStarts; i += kWinnerThreads) {
    const int piece = i / kStarts, start = i % kStarts;  // relative to kSide pixels before the first one
    const std::uint32_t* word = shared.words + S::row(piece * kPiecePairs) + start;
    LeastOfPiece<kWords> least;
#pragma unroll
    for (int j = 0; j < kPiecePairs; ++j) least.meet(word[j * (S::kPitch + 1)], j);
    const int entry = start - S::kSide - piece * kPiecePlanes + Shape::kPlanes - 1;
    const std::uint32_t low = least.low_key(piece), high = least.high_key(piece);
    if (low < kNoKey) atomicMin(&shared.window[entry], low);
    if (high < kNoKey) atomicMin(&shared.window[entry - kPiecePairs], high);
  }
}

/// A thread block processes a segment of a row. The keys of the right pixels that its left pixels may match
/// are merged with those of the other thread blocks: a min, independent of the order.
template <class Shape, PathStorage kStorage>
__global__ void __launch_bounds__(kWinnerThreads)
    winner_kernel(PathArgs a, PathVolumes volumes, int min_disparity, PathWinner* winners,
                  std::uint32_t* right_keys) {
  using S = Segment<Shape>;
  constexpr bool kWords = kStorage == PathStorage::kWords;
  constexpr int kAtOnce = kWinnerThreads / Shape::kLanes;
  extern __shared__ std::uint32_t memory[];
  const Shared<Shape> shared(memory);
  const int segment = static_cast<int>(blockIdx.x) * S::kPixels, pixels = min(S::kPixels, a.width - segment);
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(blockIdx.y) * a.width;
  if (right_keys) shared.clear();
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x) / Shape::kLanes; i < S::kPixels; i += kAtOnce)
    meet_pixel<Shape, kStorage>(volumes, a.planes, row + min(segment + i, a.width - 1), i, i < pixels,
                                shared);
  __syncthreads();
  store_winners<Shape, kWords>(shared, a.planes, pixels, winners + row + segment);
  if (!right_keys) return;
  meet_diagonals<Shape, kWords>(shared, a.planes);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < S::kWindow; i += kWinnerThreads) {
    const int x = segment + i - (Shape::kPlanes - 1) - min_disparity;
    const std::uint32_t key = shared.window[i];
    if (key < kNoKey && x >= 0 && x < a.width) atomicMin(&right_keys[row + x], key);
  }
}

template <class Shape, PathStorage kStorage>
void launch(const PathArgs& args, const PathVolumes& volumes, int min_disparity, PathWinner* winners,
            std::uint32_t* right_keys, cudaStream_t stream) {
  using S = Segment<Shape>;
  static_assert(S::kPixels * Shape::kLanes % kWinnerThreads == 0);  // no warp diverges at the end of the loop
  const dim3 grid(blocks_for(args.width, S::kPixels), static_cast<unsigned>(args.height));
  RECON_CUDA_TRY(cudaFuncSetAttribute(winner_kernel<Shape, kStorage>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(S::kBytes)));
  winner_kernel<Shape, kStorage>
      <<<grid, kWinnerThreads, S::kBytes, stream>>>(args, volumes, min_disparity, winners, right_keys);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void launch_path_winner(const PathArgs& args, const PathVolumes& volumes, int min_disparity,
                        PathWinner* winners, std::uint32_t* right_keys, cudaStream_t stream) {
  with_path_shape(args.planes, [&](auto shape) {
    using Shape = decltype(shape);
    switch (volumes.storage) {
      case PathStorage::kFewBytes:
        return launch<Shape, PathStorage::kFewBytes>(args, volumes, min_disparity, winners, right_keys,
                                                     stream);
      case PathStorage::kBytes:
        return launch<Shape, PathStorage::kBytes>(args, volumes, min_disparity, winners, right_keys, stream);
      default:
        return launch<Shape, PathStorage::kWords>(args, volumes, min_disparity, winners, right_keys, stream);
    }
  });
}

}  // namespace recon::cuda

#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"

namespace recon::cuda {

/// Storage of the path costs.
enum class PathStorage {
  kFewBytes,  ///< one volume per direction, as the costs; the sum of two paths fits in a byte
  kBytes,     ///< the same, but only one path fits
  kWords,     ///< 16-bit sums: of the even and of the odd directions, or in one volume of all
};

/// Consecutive volumes.
struct PathVolumes {
  uint4* first;
  std::ptrdiff_t stride;  ///< 16-byte pieces from one volume to the next
  int count;
  PathStorage storage;
};

/// Selects the winners from the sums. @throws DeviceError
/// @param right_keys  by right pixel: S << 16 | plane of its winner, initialized to all ones; null: not
/// computed
void launch_path_winner(const PathArgs& args, const PathVolumes& volumes, int min_disparity,
                        PathWinner* winners, std::uint32_t* right_keys, cudaStream_t stream);

/// Layout of the costs of one pixel in registers: kLanes neighbouring lanes of a warp hold kCells
/// neighbouring planes each, two per register. In each piece of 16 planes register j holds the planes j (low
/// half) and j + 8 (high half), so that the adjacent registers hold the adjacent planes.
template <int kLanesOfGroup, int kCellsOfLane>
struct PathShape {
  static constexpr int kLanes = kLanesOfGroup;
  static constexpr int kCells = kCellsOfLane;
  static constexpr int kPairs = kCells / 2;
  static constexpr int kPieces = kCells / kPiecePlanes;  ///< per lane; twice as many with 16 bits per plane
  static constexpr int kPlanes = kLanes * kCells;        ///< max number of planes
  static constexpr int kPixel = kPlanes / kPiecePlanes;  ///< pieces per pixel
};
inline constexpr int kPiecePairs = kPiecePlanes / 2;

/// Cost of a plane that is not searched: more than any sum of cost and penalties, and small enough that
/// adding both does not overflow.
inline constexpr std::uint32_t kUnsearched = 2 * (kMaxPathCost + 1);

__device__ inline std::uint32_t in_both_halves(std::uint32_t value) {
  return value * 0x10001u;
}

template <class Shape>
__device__ int lane_of_group() {
  return static_cast<int>(threadIdx.x) % Shape::kLanes;
}

/// The smaller half, in both halves.
__device__ inline std::uint32_t min_of_halves(std::uint32_t pair) {
  return __vminu2(pair, __byte_perm(pair, pair, 0x1032));
}

/// High half of `a`, then low half of `b`.
__device__ inline std::uint32_t between(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x5432);
}

/// The costs of a path at a pixel, and their min (in both halves).
template <class Shape>
struct PathVector {
  std::uint32_t pair[Shape::kPairs];
  std::uint32_t min_cost;

  /// State before a path begins: with it `path_cost` returns the cost itself.
  __device__ void begin() {
#pragma unroll
    for (std::uint32_t& p : pair) p = 0;
    min_cost = 0;
  }
};

/// One step of a path, see recon::path_cost: two planes per operation.
/// @param p1, p2  in both halves
template <class Shape>
__device__ void advance(PathVector<Shape>& path, const std::uint32_t (&cost)[Shape::kPairs], std::uint32_t p1,
                        std::uint32_t p2) {
  std::uint32_t(&pair)[Shape::kPairs] = path.pair;
  const int lane = lane_of_group<Shape>();
  std::uint32_t below = __shfl_up_sync(~0u, pair[Shape::kPairs - 1], 1, Shape::kLanes);
  std::uint32_t beyond = __shfl_down_sync(~0u, pair[0], 1, Shape::kLanes);
  if (lane == 0) below = in_both_halves(kUnsearched);
  if (lane == Shape::kLanes - 1) beyond = in_both_halves(kUnsearched);
  const std::uint32_t ceiling = path.min_cost + p2;
  std::uint32_t smallest = ~0u;
#pragma unroll
  for (int begin = 0; begin < Shape::kPairs; begin += kPiecePairs) {
    const int last = begin + kPiecePairs - 1;
    const std::uint32_t above_last =
        between(pair[begin], last + 1 < Shape::kPairs ? pair[(last + 1) % Shape::kPairs] : beyond);
    below = between(below, pair[last]);
#pragma unroll
    for (int j = begin; j <= last; ++j) {
      const std::uint32_t same = pair[j], above = j < last ? pair[(j + 1) % Shape::kPairs] : above_last;
      const std::uint32_t best = __vminu2(__viaddmin_u16x2(__vminu2(below, above), p1, same), ceiling);
      pair[j] = cost[j] + best - path.min_cost;
      if (j % 2 == 1) smallest = __vimin3_u16x2(smallest, pair[j - 1], pair[j]);
      below = same;
    }
  }
  smallest = min_of_halves(smallest);
#pragma unroll
  for (int offset = Shape::kLanes / 2; offset > 0; offset /= 2)
    smallest = __vminu2(smallest, __shfl_xor_sync(~0u, smallest, offset, Shape::kLanes));
  path.min_cost = smallest;
}

__device__ inline void get_words(const uint4& piece, std::uint32_t* word) {
  word[0] = piece.x;
  word[1] = piece.y;
  word[2] = piece.z;
  word[3] = piece.w;
}

/// Upper bytes when the bytes of a lane's planes are expanded to pairs: zero, or kUnsearched.
template <class Shape>
struct UpperBytes {
  std::uint32_t word[Shape::kCells / 4];

  __device__ explicit UpperBytes(int planes) {
    const int searched = planes - lane_of_group<Shape>() * Shape::kCells;
#pragma unroll
    for (std::uint32_t& w : word) w = 0;
    if (searched >= Shape::kCells) return;
#pragma unroll
    for (int d = 0; d < Shape::kCells; ++d) {
      const int byte = plane_byte(d);
      if (d >= searched) word[byte / 4] |= kUnsearched >> 8 << 8 * (byte % 4);
    }
  }
};

/// The costs of a lane's planes in the memory layout.
template <class Shape>
struct PathBytes {
  uint4 piece[Shape::kPieces];

  __device__ void load(const uint4* from) {
#pragma unroll
    for (int q = 0; q < Shape::kPieces; ++q) piece[q] = __ldg(from + q);
  }

  __device__ void unpack(const UpperBytes<Shape>& upper, std::uint32_t (&cost)[Shape::kPairs]) const {
#pragma unroll
    for (int q = 0; q < Shape::kPieces; ++q) {
      std::uint32_t word[4];
      get_words(piece[q], word);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        cost[8 * q + 2 * i] = __byte_perm(word[i], upper.word[4 * q + i], 0x6240);
        cost[8 * q + 2 * i + 1] = __byte_perm(word[i], upper.word[4 * q + i], 0x7351);
      }
    }
  }
};

/// The inverse of PathBytes: stores for a later kernel.
template <class Shape>
__device__ void store_bytes(uint4* to, const std::uint32_t (&pair)[Shape::kPairs]) {
#pragma unroll
  for (int q = 0; q < Shape::kPieces; ++q) {
    std::uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i] = __byte_perm(pair[8 * q + 2 * i], pair[8 * q + 2 * i + 1], 0x6240);
    __stcs(to + q, make_uint4(word[0], word[1], word[2], word[3]));
  }
}

/// Offset of a lane in the storage of pairs: a pixel takes 2 kPixel pieces, first the registers 0 .. 3 of
/// every lane, then 4 .. 7, and so on, so that a group reads and writes full lines.
template <class Shape>
__device__ std::ptrdiff_t pairs_of_lane(std::ptrdiff_t pixel) {
  return pixel * (2 * Shape::kPixel) + lane_of_group<Shape>();
}

template <class Shape>
__device__ void store_pairs(uint4* to, const std::uint32_t (&pair)[Shape::kPairs]) {
#pragma unroll
  for (int q = 0; q < 2 * Shape::kPieces; ++q)
    __stcs(to + q * Shape::kLanes,
           make_uint4(pair[4 * q], pair[4 * q + 1], pair[4 * q + 2], pair[4 * q + 3]));
}

/// The stored pairs of a lane at a pixel.
template <class Shape>
struct StoredPairs {
  uint4 piece[2 * Shape::kPieces];

  __device__ void load(const uint4* from) {
#pragma unroll
    for (int q = 0; q < 2 * Shape::kPieces; ++q) piece[q] = __ldcs(from + q * Shape::kLanes);
  }
  __device__ void add_to(std::uint32_t (&sum)[Shape::kPairs]) const {
#pragma unroll
    for (int q = 0; q < 2 * Shape::kPieces; ++q) {
      std::uint32_t word[4];
      get_words(piece[q], word);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[4 * q + i] += word[i];
    }
  }
};

/// The table of P2 by the difference of two grey levels, in both halves; filled by one thread block.
__device__ inline void fill_penalties(const SemiGlobalOptions& options, std::uint32_t (&table)[256]) {
  for (int g = static_cast<int>(threadIdx.x); g < 256; g += static_cast<int>(blockDim.x))
    table[g] = in_both_halves(static_cast<std::uint32_t>(edge_penalty(options, g)));
  __syncthreads();
}

/// Calls `work` with the smallest shape that holds `planes`.
template <class Work>
void with_path_shape(int planes, const Work& work) {
  EXPECTS(planes >= 1 && planes <= 4096);
  if (planes <= 64) return work(PathShape<4, 16>{});
  if (planes <= 128) return work(PathShape<8, 16>{});
  if (planes <= 256) return work(PathShape<16, 16>{});
  if (planes <= 512) return work(PathShape<32, 16>{});
  if (planes <= 1024) return work(PathShape<32, 32>{});
  work(PathShape<32, 128>{});
}

}  // namespace recon::cuda

#pragma once

#include <cstdint>
#include <type_traits>

#include "optimize/semi_global_step.hpp"

namespace recon::cuda {

/// How the costs of one pixel lie in registers: kLanes neighbouring lanes of a warp hold kCells neighbouring
/// planes each, two to a register: register j the planes j (low half) and j + kPairs (high half) of the
/// lane's, so that the neighbours of a register's planes are the registers beside it.
///
/// In memory a pixel takes kLanes * kPairs words: first the registers 0 .. 3 of every lane, then 4 .. 7, and
/// so on, so that a group reads and writes whole lines.
template <int kLanesOfGroup, int kCellsOfLane>
struct PathShape {
  /// A piece of a lane's planes where they take a byte each.
  using Bytes = std::conditional_t<kCellsOfLane == 8, uint2, uint4>;
  static constexpr int kBytePieces = kCellsOfLane == 8 ? 1 : kCellsOfLane / 16;
  static constexpr int kLanes = kLanesOfGroup;
  static constexpr int kCells = kCellsOfLane;
  static constexpr int kPairs = kCells / 2;
  static constexpr int kQuads = kPairs / 4;        ///< pieces of 16 bytes of a lane, 16 bits a plane
  static constexpr int kPlanes = kLanes * kCells;  ///< most that fit
  static constexpr int kVector = kLanes * kQuads;  ///< pieces of a pixel, 16 bits a plane
  static constexpr int kSlot = kVector + 1;        ///< and the least of its costs
};

/// Stands for a plane that is not searched: more than any sum of cost and penalties, and still far from
/// overflow when both are added to it.
inline constexpr std::uint32_t kUnsearched = 2 * (kMaxPathCost + 1);

__device__ inline std::uint32_t in_both_halves(std::uint32_t value) {
  return value * 0x10001u;
}

/// The smaller half, in both.
__device__ inline std::uint32_t least_of_halves(std::uint32_t pair) {
  return __vminu2(pair, __byte_perm(pair, pair, 0x1032));
}

/// The costs of one direction's paths at a pixel, and the least of them (in both halves).
template <class Shape>
struct PathVector {
  std::uint32_t pair[Shape::kPairs];
  std::uint32_t least;

  /// What a path begins with: from here `path_cost` is the cost itself.
  __device__ void begin() {
#pragma unroll
    for (std::uint32_t& p : pair) p = 0;
    least = 0;
  }
};

/// Packs the low or the high halves of two registers.
__device__ inline std::uint32_t low_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ inline std::uint32_t high_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x7632);
}

/// The last plane of the lane below, for two paths at once: that of path i in half i.
template <class Shape>
__device__ std::uint32_t from_lane_below(const PathVector<Shape>& a, const PathVector<Shape>& b) {
  constexpr int last = Shape::kPairs - 1;
  const std::uint32_t given = __shfl_up_sync(~0u, high_halves(a.pair[last], b.pair[last]), 1, Shape::kLanes);
  return threadIdx.x % Shape::kLanes == 0 ? in_both_halves(kUnsearched) : given;
}

/// The first plane of the lane above.
template <class Shape>
__device__ std::uint32_t from_lane_above(const PathVector<Shape>& a, const PathVector<Shape>& b) {
  const std::uint32_t given = __shfl_down_sync(~0u, low_halves(a.pair[0], b.pair[0]), 1, Shape::kLanes);
  return threadIdx.x % Shape::kLanes == Shape::kLanes - 1 ? in_both_halves(kUnsearched) : given;
}

/// The least over the group's lanes, of each half of each register.
template <class Shape, int kCount>
__device__ void least_of_lanes(std::uint32_t (&pair)[kCount]) {
#pragma unroll
  for (int offset = Shape::kLanes / 2; offset > 0; offset /= 2)
#pragma unroll
    for (std::uint32_t& p : pair) p = __vminu2(p, __shfl_xor_sync(~0u, p, offset, Shape::kLanes));
}

/// One step of kCount paths side by side, see recon::path_cost: two planes in each operation. The paths wait
/// for the lanes' exchange together.
/// @param p1, p2  in both halves
template <int kCount, class Shape>
__device__ void advance(PathVector<Shape>* path, const std::uint32_t (&cost)[Shape::kPairs], std::uint32_t p1,
                        const std::uint32_t* p2) {
  constexpr int last = Shape::kPairs - 1, kBoth = (kCount + 1) / 2;
  std::uint32_t beneath[kBoth], beyond[kBoth], least[kCount];
#pragma unroll
  for (int i = 0; i < kBoth; ++i) {
    const int other = min(2 * i + 1, kCount - 1);
    beneath[i] = from_lane_below(path[2 * i], path[other]);
    beyond[i] = from_lane_above(path[2 * i], path[other]);
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    std::uint32_t(&pair)[Shape::kPairs] = path[i].pair;
    std::uint32_t below = __byte_perm(beneath[i / 2], pair[last], i % 2 == 0 ? 0x5410 : 0x5432);
    const std::uint32_t above_last = __byte_perm(pair[0], beyond[i / 2], i % 2 == 0 ? 0x5432 : 0x7632);
    const std::uint32_t ceiling = path[i].least + p2[i];
    std::uint32_t smallest = ~0u;
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      const std::uint32_t same = pair[j], above = j < last ? pair[j + 1] : above_last;
      const std::uint32_t best = __vminu2(__viaddmin_u16x2(__vminu2(below, above), p1, same), ceiling);
      pair[j] = cost[j] + best - path[i].least;
      smallest = __vminu2(smallest, pair[j]);
      below = same;
    }
    least[i] = least_of_halves(smallest);
  }
  std::uint32_t leasts[kBoth];
#pragma unroll
  for (int i = 0; i < kBoth; ++i) leasts[i] = low_halves(least[2 * i], least[min(2 * i + 1, kCount - 1)]);
  least_of_lanes<Shape>(leasts);
#pragma unroll
  for (int i = 0; i < kBoth; ++i) {
    const std::uint32_t both = leasts[i];
    path[2 * i].least = low_halves(both, both);
    if (2 * i + 1 < kCount) path[2 * i + 1].least = high_halves(both, both);
  }
}

/// The words of a piece, and the other way round.
__device__ inline void get_words(const uint2& piece, std::uint32_t* word) {
  word[0] = piece.x;
  word[1] = piece.y;
}
__device__ inline void get_words(const uint4& piece, std::uint32_t* word) {
  word[0] = piece.x;
  word[1] = piece.y;
  word[2] = piece.z;
  word[3] = piece.w;
}
__device__ inline void set_words(uint2& piece, const std::uint32_t* word) {
  piece = make_uint2(word[0], word[1]);
}
__device__ inline void set_words(uint4& piece, const std::uint32_t* word) {
  piece = make_uint4(word[0], word[1], word[2], word[3]);
}

/// The costs of a lane's planes as they lie in memory: a byte a plane, in order.
template <class Shape>
struct CostBytes {
  using Bytes = typename Shape::Bytes;
  Bytes piece[Shape::kBytePieces];

  /// `pixel` is where the pixel's costs begin.
  __device__ void load(const std::uint8_t* pixel) {
    const auto* from = reinterpret_cast<const Bytes*>(pixel) +
                       static_cast<int>(threadIdx.x) % Shape::kLanes * Shape::kBytePieces;
#pragma unroll
    for (int q = 0; q < Shape::kBytePieces; ++q) piece[q] = __ldg(from + q);
  }

  /// To pairs; planes from `planes` on are not searched, whatever the bytes are.
  __device__ void unpack(int planes, std::uint32_t (&cost)[Shape::kPairs]) const {
    std::uint32_t word[Shape::kCells / 4];
#pragma unroll
    for (int q = 0; q < Shape::kBytePieces; ++q) get_words(piece[q], word + 4 * q);
#pragma unroll
    for (int j = 0; j < Shape::kPairs; j += 2) {
      const std::uint32_t four =
          __byte_perm(word[j / 4], word[j / 4 + Shape::kCells / 8], j % 4 == 0 ? 0x5140 : 0x7362);
      cost[j] = __byte_perm(four, 0, 0x4140);
      cost[j + 1] = __byte_perm(four, 0, 0x4342);
    }
    const int searched = planes - static_cast<int>(threadIdx.x) % Shape::kLanes * Shape::kCells;
    if (searched >= Shape::kCells) return;
#pragma unroll
    for (int j = 0; j < Shape::kPairs; ++j) {
      if (j >= searched) cost[j] |= kUnsearched;
      if (j + Shape::kPairs >= searched) cost[j] |= kUnsearched << 16;
    }
  }
};

/// Reads the pairs of a lane from where `pixel` has its words.
template <class Shape>
__device__ void load_pairs(const uint4* pixel, std::uint32_t (&pair)[Shape::kPairs]) {
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
  for (int q = 0; q < Shape::kQuads; ++q) {
    const uint4 v = pixel[q * Shape::kLanes + lane];
    pair[4 * q] = v.x;
    pair[4 * q + 1] = v.y;
    pair[4 * q + 2] = v.z;
    pair[4 * q + 3] = v.w;
  }
}

template <class Shape>
__device__ void store_pairs(uint4* pixel, const std::uint32_t (&pair)[Shape::kPairs]) {
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
  for (int q = 0; q < Shape::kQuads; ++q)
    pixel[q * Shape::kLanes + lane] =
        make_uint4(pair[4 * q], pair[4 * q + 1], pair[4 * q + 2], pair[4 * q + 3]);
}

/// Where the pixel's pieces are, of paths that are stored with a byte a plane.
template <class Shape>
__device__ typename Shape::Bytes* byte_pieces(uint4* volume, std::ptrdiff_t pixel) {
  return reinterpret_cast<typename Shape::Bytes*>(volume) + pixel * (Shape::kLanes * Shape::kBytePieces) +
         static_cast<int>(threadIdx.x) % Shape::kLanes;
}

/// Word i of a lane holds registers 2i (bytes 0 and 2) and 2i + 1 (bytes 1 and 3); none is above 255.
template <class Shape>
__device__ void store_bytes(uint4* volume, std::ptrdiff_t pixel, const std::uint32_t (&pair)[Shape::kPairs]) {
  std::uint32_t word[Shape::kCells / 4];
#pragma unroll
  for (int i = 0; i < Shape::kCells / 4; ++i) word[i] = __byte_perm(pair[2 * i], pair[2 * i + 1], 0x6240);
#pragma unroll
  for (int q = 0; q < Shape::kBytePieces; ++q)
    set_words(byte_pieces<Shape>(volume, pixel)[q * Shape::kLanes], word + 4 * q);
}

/// Adds four registers of pairs.
__device__ inline void add_quad(const uint4& v, std::uint32_t* sum) {
  sum[0] += v.x;
  sum[1] += v.y;
  sum[2] += v.z;
  sum[3] += v.w;
}

/// Adds words of bytes to twice as many registers of pairs.
template <class Bytes>
__device__ void add_byte_piece(const Bytes& piece, std::uint32_t* sum) {
  constexpr int kWords = sizeof(Bytes) / 4;
  std::uint32_t word[kWords];
  get_words(piece, word);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    sum[2 * i] += word[i] & 0x00FF00FFu;
    sum[2 * i + 1] += word[i] >> 8 & 0x00FF00FFu;
  }
}

template <class Shape>
__device__ void add_pairs(const uint4* pixel, std::uint32_t (&sum)[Shape::kPairs]) {
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
  for (int q = 0; q < Shape::kQuads; ++q) add_quad(pixel[q * Shape::kLanes + lane], &sum[4 * q]);
}

template <class Shape>
__device__ void add_bytes(const uint4* volume, std::ptrdiff_t pixel, std::uint32_t (&sum)[Shape::kPairs]) {
#pragma unroll
  for (int q = 0; q < Shape::kBytePieces; ++q)
    add_byte_piece(byte_pieces<Shape>(const_cast<uint4*>(volume), pixel)[q * Shape::kLanes], &sum[8 * q]);
}

/// The table of P2 by the difference of two grey levels, in both halves; for one block.
__device__ inline void fill_penalties(const SemiGlobalOptions& options, std::uint32_t (&table)[256]) {
  for (int g = static_cast<int>(threadIdx.x); g < 256; g += static_cast<int>(blockDim.x))
    table[g] = in_both_halves(static_cast<std::uint32_t>(edge_penalty(options, g)));
  __syncthreads();
}

__device__ inline std::uint32_t penalty_between(const std::uint32_t (&table)[256], int a, int b) {
  return table[abs(a - b)];
}

}  // namespace recon::cuda

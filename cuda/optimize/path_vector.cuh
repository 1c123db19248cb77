#pragma once

#include <cstdint>

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
  static constexpr int kLanes = kLanesOfGroup;
  static constexpr int kCells = kCellsOfLane;
  static constexpr int kPairs = kCells / 2;
  static constexpr int kQuads = kPairs / 4;        ///< pieces of 16 bytes of a lane, 16 bits a plane
  static constexpr int kByteQuads = kCells / 16;   ///< the same, a byte a plane
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

/// Makes the least of what each of the group's lanes has.
template <class Shape>
__device__ std::uint32_t least_of_group(std::uint32_t least) {
  least = least_of_halves(least);
#pragma unroll
  for (int offset = Shape::kLanes / 2; offset > 0; offset /= 2)
    least = __vminu2(least, __shfl_xor_sync(~0u, least, offset, Shape::kLanes));
  return least;
}

/// One step of the paths, see recon::path_cost: two planes in each operation.
/// @param p1, p2  in both halves
template <class Shape>
__device__ void advance(PathVector<Shape>& path, const std::uint32_t (&cost)[Shape::kPairs], std::uint32_t p1,
                        std::uint32_t p2) {
  constexpr int last = Shape::kPairs - 1;
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
  std::uint32_t beneath = __shfl_up_sync(~0u, path.pair[last], 1, Shape::kLanes);
  std::uint32_t beyond = __shfl_down_sync(~0u, path.pair[0], 1, Shape::kLanes);
  if (lane == 0) beneath = kUnsearched << 16;
  if (lane == Shape::kLanes - 1) beyond = kUnsearched;
  std::uint32_t below = __byte_perm(beneath, path.pair[last], 0x5432);
  const std::uint32_t above_last = __byte_perm(path.pair[0], beyond, 0x5432);
  const std::uint32_t ceiling = path.least + p2;
  std::uint32_t least = ~0u;
#pragma unroll
  for (int j = 0; j < Shape::kPairs; ++j) {
    const std::uint32_t same = path.pair[j], above = j < last ? path.pair[j + 1] : above_last;
    const std::uint32_t best = __vminu2(__viaddmin_u16x2(__vminu2(below, above), p1, same), ceiling);
    path.pair[j] = cost[j] + best - path.least;
    least = __vminu2(least, path.pair[j]);
    below = same;
  }
  path.least = least_of_group<Shape>(least);
}

/// The costs of a lane's planes as they lie in memory: a byte a plane, in order.
template <class Shape>
struct CostBytes {
  uint4 quad[Shape::kByteQuads];

  /// `pixel` is where the pixel's costs begin.
  __device__ void load(const std::uint8_t* pixel) {
    const auto* from = reinterpret_cast<const uint4*>(pixel) +
                       static_cast<int>(threadIdx.x) % Shape::kLanes * Shape::kByteQuads;
#pragma unroll
    for (int q = 0; q < Shape::kByteQuads; ++q) quad[q] = __ldg(from + q);
  }

  /// To pairs; planes from `planes` on are not searched, whatever the bytes are.
  __device__ void unpack(int planes, std::uint32_t (&cost)[Shape::kPairs]) const {
    std::uint32_t word[Shape::kCells / 4];
#pragma unroll
    for (int q = 0; q < Shape::kByteQuads; ++q) {
      word[4 * q] = quad[q].x;
      word[4 * q + 1] = quad[q].y;
      word[4 * q + 2] = quad[q].z;
      word[4 * q + 3] = quad[q].w;
    }
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

/// The same for paths that are stored with a byte a plane (none is above 255 then): word i of a lane holds
/// registers 2i (bytes 0 and 2) and 2i + 1 (bytes 1 and 3).
template <class Shape>
__device__ void store_bytes(uint4* pixel, const std::uint32_t (&pair)[Shape::kPairs]) {
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
  for (int q = 0; q < Shape::kByteQuads; ++q)
    pixel[q * Shape::kLanes + lane] = make_uint4(__byte_perm(pair[8 * q], pair[8 * q + 1], 0x6240),
                                                 __byte_perm(pair[8 * q + 2], pair[8 * q + 3], 0x6240),
                                                 __byte_perm(pair[8 * q + 4], pair[8 * q + 5], 0x6240),
                                                 __byte_perm(pair[8 * q + 6], pair[8 * q + 7], 0x6240));
}

template <class Shape>
__device__ void add_pairs(const uint4* pixel, std::uint32_t (&sum)[Shape::kPairs]) {
  std::uint32_t pair[Shape::kPairs];
  load_pairs<Shape>(pixel, pair);
#pragma unroll
  for (int j = 0; j < Shape::kPairs; ++j) sum[j] += pair[j];
}

template <class Shape>
__device__ void add_bytes(const uint4* pixel, std::uint32_t (&sum)[Shape::kPairs]) {
  const int lane = static_cast<int>(threadIdx.x) % Shape::kLanes;
#pragma unroll
  for (int q = 0; q < Shape::kByteQuads; ++q) {
    const uint4 v = pixel[q * Shape::kLanes + lane];
    const std::uint32_t word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum[8 * q + 2 * i] += word[i] & 0x00FF00FFu;
      sum[8 * q + 2 * i + 1] += word[i] >> 8 & 0x00FF00FFu;
    }
  }
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

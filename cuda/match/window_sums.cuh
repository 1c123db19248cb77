#pragma once

#include <cstdint>

#include "cuda/match/sweep_args.hpp"

/// Window sums in two steps: down the columns by byte dot products over words of four rows, then along the
/// rows as running sums. All sums are integers, so the order does not matter.

namespace recon::cuda {

/// Number of words above and below its own that the windows of the rows of a word reach.
RECON_HD constexpr int word_reach(int radius) {
  return (radius + 3) / 4;
}

/// Bytes (0xFF: counted) of word `word` (relative to the own word) that lie in the window of row `row` of the
/// own word.
RECON_HD constexpr std::uint32_t byte_mask(int word, int row, int radius) {
  std::uint32_t mask = 0;
  for (int b = 0; b < 4; ++b) {
    const int distance = 4 * word + b - row;
    if (distance >= -radius && distance <= radius) mask |= 0xFFu << (8 * b);
  }
  return mask;
}

/// Whether the windows of all four rows of the own word contain the whole of word `word`.
RECON_HD constexpr bool counted_by_all(int word, int radius) {
  for (int row = 0; row < 4; ++row)
    if (byte_mask(word, row, radius) != 0xFFFFFFFFu) return false;
  return true;
}

/// Sums over the 2 Radius + 1 rows around each of the four rows of the middle word of `a`, of the bytes of
/// `a` if `b` is null, else of the products of the bytes of `a` and `b`; adds to `sum`.
template <int Radius>
struct ColumnSums {
  static constexpr int kReach = word_reach(Radius);
  static constexpr int kWords = 2 * kReach + 1;

  static __device__ __forceinline__ void add(const std::uint32_t (&a)[kWords], std::uint32_t (&sum)[4]) {
    std::uint32_t common = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      if (counted_by_all(w - kReach, Radius)) common = __dp4a(a[w], 0x01010101u, common);
#pragma unroll
    for (int row = 0; row < 4; ++row) {
      std::uint32_t rest = common;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const std::uint32_t mask = byte_mask(w - kReach, row, Radius);
        if (!counted_by_all(w - kReach, Radius) && mask != 0) rest = __dp4a(a[w], mask & 0x01010101u, rest);
      }
      sum[row] += rest;
    }
  }

  static __device__ __forceinline__ void products(const std::uint32_t (&a)[kWords],
                                                  const std::uint32_t (&b)[kWords], std::uint32_t (&sum)[4]) {
    std::uint32_t common = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      if (counted_by_all(w - kReach, Radius)) common = __dp4a(a[w], b[w], common);
#pragma unroll
    for (int row = 0; row < 4; ++row) {
      sum[row] = common;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const std::uint32_t mask = byte_mask(w - kReach, row, Radius);
        if (!counted_by_all(w - kReach, Radius) && mask != 0) sum[row] = __dp4a(a[w] & mask, b[w], sum[row]);
      }
    }
  }
};

/// Position of column `column` in a row of kTileColumns words: 16-byte chunks are swapped in pairs so that
/// eight neighbouring threads that read every other chunk use all banks.
__device__ __forceinline__ int swizzled(int column) {
  return column ^ ((column >> 3) & 4);
}

/// The columns from `first` on of a swizzled row that eight neighbouring windows reach; `first` a multiple
/// of 8.
template <int Radius>
struct RowSpan {
  static constexpr int kChunks = (kOutputColumns + 2 * Radius + 3) / 4;
  std::uint32_t column[4 * kChunks];

  __device__ __forceinline__ RowSpan(const std::uint32_t* row, int first) {
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const uint4 chunk = *reinterpret_cast<const uint4*>(row + swizzled(first + 4 * c));
      column[4 * c] = chunk.x;
      column[4 * c + 1] = chunk.y;
      column[4 * c + 2] = chunk.z;
      column[4 * c + 3] = chunk.w;
    }
  }

  /// Output i sums columns first + i .. first + i + 2 Radius. Linear in the words: two packed 16-bit sums are
  /// correct if both fit.
  __device__ __forceinline__ void sums(std::uint32_t (&sum)[kOutputColumns]) const {
    sum[0] = column[0];
#pragma unroll
    for (int i = 1; i <= 2 * Radius; ++i) sum[0] += column[i];
#pragma unroll
    for (int i = 1; i < kOutputColumns; ++i) sum[i] = sum[i - 1] + column[i + 2 * Radius] - column[i - 1];
  }
};

template <int Radius>
__device__ __forceinline__ void row_sums(const std::uint32_t* row, int first,
                                         std::uint32_t (&sum)[kOutputColumns]) {
  RowSpan<Radius>(row, first).sums(sum);
}

/// The same for words of two 16-bit values whose sums may need more bits: sum[0] of the low halves, sum[1] of
/// the high ones.
template <int Radius>
__device__ __forceinline__ void wide_row_sums(const std::uint32_t* row, int first,
                                              std::uint32_t (&sum)[2][kOutputColumns]) {
  RowSpan<Radius> low(row, first), high = low;
#pragma unroll
  for (int i = 0; i < 4 * RowSpan<Radius>::kChunks; ++i) {
    low.column[i] &= 0xFFFFu;
    high.column[i] >>= 16;
  }
  low.sums(sum[0]);
  high.sums(sum[1]);
}

}  // namespace recon::cuda

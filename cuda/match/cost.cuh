#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/match/combine.cuh"
#include "cuda/match/sweep.hpp"
#include "match/cost_step.hpp"

namespace recon::cuda {

/// Window sums in two steps: down the columns by byte dot products over words of four rows, then along the
/// rows as running sums. All sums are integers, so the order does not matter.

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

/// Calls `run` with the radius of the windows as a constant: `Radius`, or if that is 0 `radius`.
template <int Radius, int Max = kMaxWindow / 2, class Run>
__device__ __forceinline__ void with_radius(int radius, const Run& run) {
  if constexpr (Radius > 0) {
    run(std::integral_constant<int, Radius>());
  } else {
    if constexpr (Max > 1)
      if (radius < Max) return with_radius<0, Max - 1>(radius, run);
    run(std::integral_constant<int, Max>());
  }
}

/// The costs in the form that the sweep kernel calls; a `Radius` of 0 stands for any. A thread block holds
/// kRows x kTileColumns samples; in parts 1 and 2 of a step (see sweep_kernel.cuh) thread (lane, word) holds
/// four words of four rows: columns lane + 32 i, rows 4 word .. 4 word + 3. In part 3 a thread computes the
/// costs of eight columns of two rows. `turn` (0 or 1) selects one of the two buffers.

constexpr int kSpareWords = 2;  ///< above and below the tile, zero: they contribute to no output
constexpr int kColumnsPerThread = kTileColumns / 32;

/// Samples in shared memory, four rows per word, with the rows above and below that the border windows reach.
template <int Rows>
struct WordPlane {
  static constexpr int kWordRows = Rows / 4;
  std::uint32_t word[kWordRows + 2 * kSpareWords][kTileColumns];

  __device__ __forceinline__ std::uint32_t& at(int row, int column) {
    return word[row + kSpareWords][column];
  }
  __device__ void clear_spares(int thread) {
    for (int i = thread; i < 2 * kSpareWords * kTileColumns; i += 32 * kWordRows) {
      const int row = i / kTileColumns;
      word[row < kSpareWords ? row : row + kWordRows][i % kTileColumns] = 0;
    }
  }
  template <int Words>
  __device__ __forceinline__ void column(int row, int at_column, std::uint32_t (&words)[Words]) const {
#pragma unroll
    for (int w = 0; w < Words; ++w) words[w] = word[row + kSpareWords - Words / 2 + w][at_column];
  }
};

/// Sums of the two rows of a pair, 16 bits each, in one word.
template <int Rows>
using PairPlane = std::uint32_t[Rows / 2][kTileColumns];
template <int Rows>
using RowPlane = std::uint32_t[Rows][kTileColumns];

template <int Pairs>
__device__ __forceinline__ void store_pairs(std::uint32_t (&plane)[Pairs][kTileColumns], int word_row,
                                            int column, const std::uint32_t (&sum)[4]) {
  plane[2 * word_row][swizzled(column)] = sum[0] + (sum[1] << 16);
  plane[2 * word_row + 1][swizzled(column)] = sum[2] + (sum[3] << 16);
}

/// Mean absolute differences over 1 or 3 channels.
template <int Radius, int Channels, int Rows = 64>
struct SadCost {
  static constexpr int kRadius = Radius;
  static constexpr int kChannels = Channels;
  static constexpr int kRows = Rows;
  static constexpr int kMaxSteps = 4096;          ///< (plane, source) pairs of a thread block
  static constexpr std::uint32_t kUnseen = 0xFF;  ///< a sum of such bytes is more than that of any window

  struct Shared {
    WordPlane<kRows> difference[2][Channels];
    PairPlane<kRows> sum;
  };

  int radius;
  std::uint32_t reference[Channels][kColumnsPerThread];
  float inverse_count;

  /// Stores the samples of the reference.
  __device__ __forceinline__ void prepare(Shared& shared,
                                          const std::uint32_t (&words)[Channels][kColumnsPerThread],
                                          int thread, int, int, bool) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      shared.difference[0][c].clear_spares(thread);
      shared.difference[1][c].clear_spares(thread);
#pragma unroll
      for (int i = 0; i < kColumnsPerThread; ++i) reference[c][i] = words[c][i];
    }
    inverse_count = 1.0f / static_cast<float>((2 * radius + 1) * (2 * radius + 1) * Channels);
  }

  __device__ __forceinline__ void put_word(Shared& shared, int turn, int channel, int i, int lane,
                                           int word_row, std::uint32_t warped) {
    shared.difference[turn][channel].at(word_row, lane + 32 * i) =
        __vabsdiffu4(warped, reference[channel][i]);
  }

  __device__ __forceinline__ void sum_columns(Shared& shared, int turn, int lane, int word_row) const {
    with_radius<Radius>(radius, [&](auto fixed) {
      using Sums = ColumnSums<decltype(fixed)::value>;
#pragma unroll
      for (int i = 0; i < kColumnsPerThread; ++i) {
        const int column = lane + 32 * i;
        std::uint32_t sum[4] = {0, 0, 0, 0};
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          std::uint32_t words[Sums::kWords];
          shared.difference[turn][c].column(word_row, column, words);
          Sums::add(words, sum);
        }
        store_pairs(shared.sum, word_row, column, sum);
      }
    });
  }

  template <int K>
  __device__ __forceinline__ void offer(const Shared& shared, int pair, int first, bool,
                                        const UnseenRows& unseen, BestSums<K>& best) const {
    std::uint32_t sum[kOutputColumns];
    row_sums<Radius>(shared.sum[pair], first, sum);
    best.offer(sum, unseen);
  }

  /// With three channels and large windows a sum needs more than 16 bits: the two rows are kept separate.
  template <class Floats>
  __device__ __forceinline__ void offer(const Shared& shared, int pair, int first, bool all_seen,
                                        const UnseenRows& unseen, Floats& combined) const {
    std::uint32_t sum[2][kOutputColumns];
    with_radius<Radius>(
        radius, [&](auto fixed) { wide_row_sums<decltype(fixed)::value>(shared.sum[pair], first, sum); });
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int i = 0; i < kOutputColumns; ++i) {
        const bool valid = all_seen || (unseen.column[i] >> (16 * row) & 1u) == 0;
        combined.offer(row, i, valid ? sad_cost(sum[row][i], inverse_count) : invalid_cost());
      }
  }
};

/// One minus the zero-mean normalised cross-correlation of grey windows.
template <int Radius, int Rows = 32>
struct ZnccCost {
  static constexpr int kRadius = Radius;
  static constexpr int kChannels = 1;
  static constexpr int kRows = Rows;
  static constexpr int kMaxSteps = Rows > 32 ? 4096 : 1984;  ///< what 64 KB leave; for 62 planes or more
  static constexpr std::uint32_t kUnseen = 0x7F;  ///< a float of such bytes is finite, above kLeastUnseen

  struct Shared {
    WordPlane<kRows> reference, warped[2];
    PairPlane<kRows> sum;
    RowPlane<kRows> square, product;
  };

  int radius;
  std::uint32_t reference_sum[kOutputColumns];  ///< two rows per word
  float half_variance[2][kOutputColumns];       ///< of the reference, scaled

  /// The window sums of the reference alone, by the same steps.
  __device__ __forceinline__ void prepare(Shared& shared, const std::uint32_t (&words)[1][kColumnsPerThread],
                                          int thread, int pair, int first, bool active) {
    const int lane = thread % 32, word_row = thread / 32;
    shared.reference.clear_spares(thread);
    shared.warped[0].clear_spares(thread);
    shared.warped[1].clear_spares(thread);
#pragma unroll
    for (int i = 0; i < kColumnsPerThread; ++i) {
      shared.reference.at(word_row, lane + 32 * i) = words[0][i];
      shared.warped[0].at(word_row, lane + 32 * i) = words[0][i];
    }
    __syncthreads();
    sum_columns(shared, 0, lane, word_row);
    __syncwarp();
    if (active) {
      sum_row(shared.sum[pair], first, reference_sum);
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        std::uint32_t square[kOutputColumns];
        sum_row(shared.square[2 * pair + row], first, square);
#pragma unroll
        for (int i = 0; i < kOutputColumns; ++i)
          half_variance[row][i] =
              0.5f * static_cast<float>(scaled_variance(count(), half_of(reference_sum[i], row), square[i]));
      }
    }
    __syncthreads();
  }

  __device__ __forceinline__ void put_word(Shared& shared, int turn, int, int i, int lane, int word_row,
                                           std::uint32_t warped) {
    shared.warped[turn].at(word_row, lane + 32 * i) = warped;
  }

  __device__ __forceinline__ void sum_columns(Shared& shared, int turn, int lane, int word_row) const {
    with_radius<Radius>(radius, [&](auto fixed) {
      using Sums = ColumnSums<decltype(fixed)::value>;
#pragma unroll
      for (int i = 0; i < kColumnsPerThread; ++i) {
        const int column = lane + 32 * i, at = swizzled(column);
        std::uint32_t a[Sums::kWords], b[Sums::kWords];
        shared.reference.column(word_row, column, a);
        shared.warped[turn].column(word_row, column, b);
        std::uint32_t sum[4] = {0, 0, 0, 0};
        Sums::add(b, sum);
        store_pairs(shared.sum, word_row, column, sum);
        Sums::products(b, b, sum);
#pragma unroll
        for (int row = 0; row < 4; ++row) shared.square[4 * word_row + row][at] = sum[row];
        Sums::products(b, a, sum);
#pragma unroll
        for (int row = 0; row < 4; ++row) shared.product[4 * word_row + row][at] = sum[row];
      }
    });
  }

  /// zncc_cost to the bit, without its tests: where a window is flat the covariance is 0, so the cost is 1.
  template <class Floats>
  __device__ __forceinline__ void offer(const Shared& shared, int pair, int first, bool,
                                        const UnseenRows& unseen, Floats& combined) const {
    std::uint32_t sum[kOutputColumns];
    sum_row(shared.sum[pair], first, sum);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      std::uint32_t square[kOutputColumns], product[kOutputColumns];
      sum_row(shared.square[2 * pair + row], first, square);
      sum_row(shared.product[2 * pair + row], first, product);
#pragma unroll
      for (int i = 0; i < kOutputColumns; ++i) {
        const std::uint32_t source_sum = half_of(sum[i], row);
        const std::int32_t variance = scaled_variance(count(), source_sum, square[i]);
        const std::int32_t covariance =
            scaled_covariance(count(), half_of(reference_sum[i], row), source_sum, product[i]);
        // Seen: 0 or less than 1e-40, which is 0 as a half.
        const float least = __uint_as_float(row == 0 ? unseen.column[i] << 16 : unseen.column[i]);
        const float scale = inverse_sqrt_of_twice(half_variance[row][i] * static_cast<float>(variance));
        combined.offer(row, i, fmaxf(1.0f - static_cast<float>(covariance) * scale, least));
      }
    }
  }

 private:
  __device__ __forceinline__ std::uint32_t count() const {
    return static_cast<std::uint32_t>((2 * radius + 1) * (2 * radius + 1));
  }
  __device__ __forceinline__ void sum_row(const std::uint32_t* row, int first,
                                          std::uint32_t (&sum)[kOutputColumns]) const {
    with_radius<Radius>(radius, [&](auto fixed) { row_sums<decltype(fixed)::value>(row, first, sum); });
  }
  static __device__ __forceinline__ std::uint32_t half_of(std::uint32_t pair, int row) {
    return row == 0 ? pair & 0xFFFFu : pair >> 16;
  }
};

}  // namespace recon::cuda

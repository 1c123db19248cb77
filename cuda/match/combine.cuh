#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/match/sweep.hpp"
#include "match/combine_step.hpp"
#include "match/cost_step.hpp"

namespace recon::cuda {

/// How a thread combines the costs of the sources into one cost for each of its outputs: two rows (a pair) of
/// eight columns.

/// Combined costs as half bits; word [row][i] holds columns 2 i (low) and 2 i + 1.
struct PairCosts {
  std::uint32_t half[2][kOutputColumns / 2];
};

__device__ __forceinline__ std::uint32_t half_bits(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  std::uint32_t bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}

/// Float costs of outputs that a source does not see are at least this; all others are far below.
inline constexpr float kLeastUnseen = 1e30f;

/// Outputs that a source does not see: two bytes Cost::kUnseen in half `row` of the value of a column; else
/// 0.
struct UnseenRows {
  std::uint32_t column[kOutputColumns];
};

/// From values with a byte for each of four rows; `second`: the upper two of them.
__device__ __forceinline__ UnseenRows unseen_rows(const std::uint32_t* words, bool second) {
  const std::uint32_t selector = second ? 0x3322u : 0x1100u;
  UnseenRows unseen;
#pragma unroll
  for (int c = 0; c < kOutputColumns / 4; ++c) {
    const uint4 chunk = reinterpret_cast<const uint4*>(words)[c];
    unseen.column[4 * c] = __byte_perm(chunk.x, 0, selector);
    unseen.column[4 * c + 1] = __byte_perm(chunk.y, 0, selector);
    unseen.column[4 * c + 2] = __byte_perm(chunk.z, 0, selector);
    unseen.column[4 * c + 3] = __byte_perm(chunk.w, 0, selector);
  }
  return unseen;
}

/// The 16-bit sum of row 0 (low half) or 1 as a float, without a conversion instruction.
template <int Row>
__device__ __forceinline__ float sum_of_row(std::uint32_t pair) {
  return __uint_as_float(__byte_perm(pair, 0x4B000000u, Row == 0 ? 0x7410u : 0x7432u)) - 8388608.0f;
}

/// The mean of the best K <= 2, or the best alone if `best_k` is 1, from packed pairs of 16-bit window sums.
/// Cost increases with the sum, so the best sums are the best costs; 0xFFFF marks a source that does not see
/// the sample (sums are at most 225 * 255).
template <int K>
struct BestSums {
  static_assert(K == 1 || K == 2);
  static constexpr bool kOfSums = true;
  std::uint32_t sum[K][kOutputColumns];

  __device__ __forceinline__ void clear(const SweepArgs&) {
#pragma unroll
    for (int i = 0; i < kOutputColumns; ++i)
#pragma unroll
      for (int k = 0; k < K; ++k) sum[k][i] = 0xFFFFFFFFu;
  }

  __device__ __forceinline__ void offer(const std::uint32_t (&pair)[kOutputColumns],
                                        const UnseenRows& unseen) {
#pragma unroll
    for (int i = 0; i < kOutputColumns; ++i) {
      const std::uint32_t offered = pair[i] | unseen.column[i];
      if (K == 2) sum[K - 1][i] = __vminu2(sum[K - 1][i], __vmaxu2(sum[0][i], offered));
      sum[0][i] = __vminu2(sum[0][i], offered);
    }
  }

  __device__ __forceinline__ PairCosts result(const SweepArgs& args, float inverse_count) const {
    const float limit = args.best_k == 1 ? 0.0f : 65535.0f;
    PairCosts costs;
#pragma unroll
    for (int i = 0; i < kOutputColumns / 2; ++i) {
      costs.half[0][i] =
          half_bits(cost<0>(2 * i, inverse_count, limit), cost<0>(2 * i + 1, inverse_count, limit));
      costs.half[1][i] =
          half_bits(cost<1>(2 * i, inverse_count, limit), cost<1>(2 * i + 1, inverse_count, limit));
    }
    return costs;
  }

 private:
  /// The second best counts if its sum is below `limit`.
  template <int Row>
  __device__ __forceinline__ float cost(int i, float inverse_count, float limit) const {
    const float best = sum_of_row<Row>(sum[0][i]);
    float mean = best * inverse_count;
    if (K == 2) {
      const float next = sum_of_row<Row>(sum[K - 1][i]);
      if (next < limit) mean = (mean + next * inverse_count) * 0.5f;
    }
    return best < 65535.0f ? mean : invalid_cost();
  }
};

/// The same for float costs, K = 2.
struct BestFloats {
  static constexpr bool kOfSums = false;
  BestCosts<2> best[2][kOutputColumns];

  __device__ __forceinline__ void clear(const SweepArgs&) {
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int i = 0; i < kOutputColumns; ++i) best[row][i].clear();
  }
  /// BestCosts::offer by instructions for min and max: no cost is NaN.
  __device__ __forceinline__ void offer(int row, int i, float cost) {
    float(&kept)[2] = best[row][i].cost;
    kept[1] = fminf(kept[1], fmaxf(kept[0], cost));
    kept[0] = fminf(kept[0], cost);
  }
  __device__ __forceinline__ PairCosts result(const SweepArgs& args) const {
    const float limit = args.best_k == 1 ? -invalid_cost() : kLeastUnseen;
    PairCosts costs;
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int i = 0; i < kOutputColumns / 2; ++i)
        costs.half[row][i] = half_bits(mean(best[row][2 * i], limit), mean(best[row][2 * i + 1], limit));
    return costs;
  }

 private:
  static __device__ __forceinline__ float mean(const BestCosts<2>& b, float limit) {
    // (a + b) / 2 without a division; bit-identical.
    return b.cost[1] < limit ? (b.cost[0] + b.cost[1]) * 0.5f : b.cost[0];
  }
};

/// Any combination, chosen at run time: the mean, and the best K up to kMaxBestK. Its lists are in local
/// memory.
struct AnyFloats {
  static constexpr bool kOfSums = false;
  float kept[2][kOutputColumns][kMaxBestK];  ///< the best, ascending; or the sum and the number of costs
  bool is_mean;
  int k;

  __device__ __forceinline__ void clear(const SweepArgs& args) {
    is_mean = args.combination == Combination::kMean;
    k = args.best_k;
    for (int row = 0; row < 2; ++row)
      for (int i = 0; i < kOutputColumns; ++i)
        for (int n = 0; n < kMaxBestK; ++n) kept[row][i][n] = is_mean ? 0.0f : invalid_cost();
  }
  __device__ __noinline__ void offer(int row, int i, float cost) {
    float* list = kept[row][i];
    if (cost >= kLeastUnseen) cost = invalid_cost();
    if (is_mean) {
      MeanCost mean{list[0], list[1]};
      mean.offer(cost);
      list[0] = mean.sum;
      list[1] = mean.count;
      return;
    }
    for (int n = 0; n < k; ++n) {
      const float low = cost < list[n] ? cost : list[n];
      cost = cost < list[n] ? list[n] : cost;
      list[n] = low;
    }
  }
  __device__ PairCosts result(const SweepArgs&) const {
    PairCosts costs;
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int i = 0; i < kOutputColumns / 2; ++i)
        costs.half[row][i] = half_bits(mean(kept[row][2 * i]), mean(kept[row][2 * i + 1]));
    return costs;
  }

 private:
  __device__ __noinline__ float mean(const float* list) const {
    if (is_mean) return MeanCost{list[0], list[1]}.mean();
    float sum = list[0], count = 1.0f;
    for (int n = 1; n < k; ++n) {
      const bool valid = list[n] < invalid_cost();
      sum = valid ? sum + list[n] : sum;
      count = valid ? count + 1.0f : count;
    }
    return sum / count;
  }
};

/// The outputs of one thread: eight columns from x on of rows y and y + 1. Outputs outside the view or the
/// launch are computed but not written.
struct OutputPlace {
  int x, y;
  bool write[2];
};

/// Stores the costs of a plane.
__device__ __forceinline__ void store_costs(const SweepArgs& args, const OutputPlace& place, int plane,
                                            const PairCosts& costs) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    if (!place.write[row]) continue;
    const std::ptrdiff_t line =
        static_cast<std::ptrdiff_t>(place.y + row - args.row_begin) * (args.plane_end - args.plane_begin) +
        (plane - args.plane_begin);
    const std::uint32_t(&half)[kOutputColumns / 2] = costs.half[row];
    *reinterpret_cast<uint4*>(args.volume + line * args.volume_pitch + place.x) = {half[0], half[1], half[2],
                                                                                   half[3]};
  }
}

}  // namespace recon::cuda

#pragma once

#include "aggregate/cost_unit_step.hpp"

namespace recon::cuda {

/// A sum of costs and the number of them.
struct CostSum {
  double sum;
  int count;
};

__device__ __forceinline__ bool is_cost(float cost) {
  return cost <= 3.402823466e38f;
}

/// A cost as a summand: none where it is infinite.
__device__ __forceinline__ CostSum summand(float cost, CostUnit unit) {
  const bool finite = is_cost(cost);
  return {finite ? static_cast<double>(unit.rounded(cost)) : 0.0, finite ? 1 : 0};
}

/// 1 / count, a few units in the last place off: enough for quotient_by_count of a whole number of units, as
/// its quotient by less than 2^16 is never nearer than 2^-17 of the last place to where rounding turns.
__device__ __forceinline__ float near_reciprocal(float count) {
  float guess;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(count));
  return guess;
}

/// 1 / count, rounded to nearest for whole counts up to 2^24.
__device__ __forceinline__ float reciprocal_of_count(float count) {
  const float guess = near_reciprocal(count);
  return __fmaf_rn(guess, __fmaf_rn(-count, guess, 1.0f), guess);
}

/// sum / count, rounded to nearest (P. Markstein 1990): no branch, unlike the operator. Sums of units are far
/// from where the remainder would lose bits.
__device__ __forceinline__ float quotient_by_count(float sum, float count, float reciprocal) {
  const float guess = __fmul_rn(sum, reciprocal);
  return __fmaf_rn(reciprocal, __fmaf_rn(-count, guess, sum), guess);
}

__device__ __forceinline__ float mean_of(CostSum s) {
  return s.count > 0 ? static_cast<float>(s.sum) / static_cast<float>(s.count) : INFINITY;
}

}  // namespace recon::cuda

#pragma once

#include "aggregate/cost_unit_step.hpp"

namespace recon::cuda {

/// A sum of costs and their number.
struct CostSum {
  double sum;
  int count;
};

__device__ __forceinline__ bool is_cost(float cost) {
  return cost <= 3.402823466e38f;
}

/// A cost as a summand; an infinite cost contributes nothing.
__device__ __forceinline__ CostSum summand(float cost, CostUnit unit) {
  const bool finite = is_cost(cost);
  return {finite ? static_cast<double>(unit.rounded(cost)) : 0.0, finite ? 1 : 0};
}

/// 1 / count, with an error of a few ulps: enough for quotient_by_count of a whole number of units, because
/// its quotient by less than 2^16 is never closer than 2^-17 ulp to a rounding boundary.
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

/// sum / count, rounded to nearest (P. Markstein 1990), without the branch of the operator. Sums of units are
/// far from the range where the remainder would lose bits.
__device__ __forceinline__ float quotient_by_count(float sum, float count, float reciprocal) {
  const float guess = __fmul_rn(sum, reciprocal);
  return __fmaf_rn(reciprocal, __fmaf_rn(-count, guess, sum), guess);
}

__device__ __forceinline__ float mean_of(CostSum s) {
  return s.count > 0 ? static_cast<float>(s.sum) / static_cast<float>(s.count) : INFINITY;
}

}  // namespace recon::cuda

#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "core/half.hpp"

namespace recon::cuda {

/// Stored values, read and rounded as in core/half.hpp and core/bfloat16.hpp, by hardware conversions.
__device__ inline float load_value(const float* p) {
  return *p;
}
__device__ inline float load_value(const Half* p) {
  return __half2float(__ushort_as_half(p->bits));
}
__device__ inline float load_value(const Bfloat16* p) {
  return __uint_as_float(static_cast<unsigned>(p->bits) << 16);
}

__device__ inline void store_value(float value, float* p) {
  *p = value;
}
__device__ inline void store_value(float value, Half* p) {
  p->bits = __half_as_ushort(__float2half_rn(value));
}
__device__ inline void store_value(float value, Bfloat16* p) {
  p->bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

/// Stores a cost, clamped to the max finite half, and returns the stored value.
__device__ inline float store_cost(float value, float* p) {
  *p = value;
  return value;
}
__device__ inline float store_cost(float value, Half* p) {
  const __half rounded = __float2half_rn(value < 65504.0f ? value : 65504.0f);
  p->bits = __half_as_ushort(rounded);
  return __half2float(rounded);
}
__device__ inline float store_cost(float value, Bfloat16* p) {
  const __nv_bfloat16 rounded = __float2bfloat16_rn(value);
  p->bits = __bfloat16_as_ushort(rounded);
  return __bfloat162float(rounded);
}

}  // namespace recon::cuda

#pragma once

#include <cstdint>

#include "cuda/match/sweep.hpp"
#include "match/warp_step.hpp"

/// Warped samples of a source. Every function is bit-identical to `sample_position` and `bilinear`; this
/// arrangement saves instructions where the whole tile is known to lie inside the source.

namespace recon::cuda {

/// 1/x rounded to nearest for normal x with normal 1/x: the hardware approximation and one Newton step, as on
/// the fast path of __frcp_rn, without the test for the slow path. A test compares all floats that the sweep
/// can produce.
__device__ __forceinline__ float reciprocal(float x) {
  float guess;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(x));
  const float error = __fmaf_rn(-x, guess, 1.0f);
  return __fmaf_rn(guess, error, guess);
}

/// A source with the address arithmetic that all samples share precomputed.
struct QuadSource {
  /// Address of the quad at index (-kIndexBias, -kIndexBias): the origin of the positions that `quad_sample`
  /// takes.
  std::uint64_t origin;
  std::uint32_t pitch;
};

constexpr std::uint32_t kIndexBias = 0x4000;

__device__ __forceinline__ QuadSource quad_source(const DeviceSource& source, int channel) {
  const auto pitch = static_cast<std::uint32_t>(source.pitch);
  const std::uint64_t bias = static_cast<std::uint64_t>(kIndexBias) * pitch + kIndexBias;
  return {reinterpret_cast<std::uint64_t>(source.channel[channel]) - 4u * bias, pitch};
}

/// The bilinear sample of a quad, shifted left by 16 bits, plus `rounding`. The upper pixels of a quad are
/// stored as 255 - p: their negative sum initializes that of the lower ones, which saves a subtraction.
__device__ __forceinline__ std::uint32_t shifted_bilinear(std::uint32_t quad, std::uint32_t fx,
                                                          std::uint32_t fy, std::uint32_t rounding) {
  const std::uint32_t weights = fx * 65535u + 256u;  // (256 - fx) and fx as 16-bit values
  const std::uint32_t minus_top = __dp2a_lo(weights, quad, 0u - 255u * 256u);
  const std::uint32_t rise = __dp2a_hi(weights, quad, minus_top);
  return rise * fy + (minus_top * (0u - 256u) + rounding);
}

/// The same rounded to whole levels: bits 16..23 are `bilinear(...)`, those above are 0.
__device__ __forceinline__ std::uint32_t shifted_bilinear(std::uint32_t quad, std::uint32_t fx,
                                                          std::uint32_t fy) {
  return shifted_bilinear(quad, fx, fy, 32768u);
}

/// Positions inside a source as the bits of position + 1.5 * 2^23: the low 22 bits count 1/256 pixels, and
/// bytes 1 and 2 are the pixel index plus kIndexBias.
struct BiasedPosition {
  std::uint32_t u, v;
};

/// `sample_position` where neither clamping nor a source behind the camera can occur (Coverage::kAll).
__device__ __forceinline__ BiasedPosition inside_position(const RowWarp& r, float fx) {
  const float magic = 12582912.0f;
  const float inverse = reciprocal(r.aw * fx + r.bw);
  return {__float_as_uint((r.ax * fx + r.bx) * inverse + magic),
          __float_as_uint((r.ay * fx + r.by) * inverse + magic)};
}

__device__ __forceinline__ std::uint32_t quad_sample(const QuadSource& source, BiasedPosition p) {
  const std::uint32_t column = __byte_perm(p.u, 0, 0x4421), row = __byte_perm(p.v, 0, 0x4421);
  const std::uint32_t index = row * source.pitch + column;
  const auto* address = reinterpret_cast<const std::uint32_t*>(source.origin + 4ull * index);
  return shifted_bilinear(__ldg(address), p.u & 255u, p.v & 255u);
}

/// `sample_position` on any plane. NaN is clamped too: no position lies outside the source.
/// @param u_max, v_max  the last position of the source
__device__ __forceinline__ BiasedPosition clamped_position(const RowWarp& r, float fx, float u_max,
                                                           float v_max, bool& inside) {
  const float magic = 12582912.0f;
  const float ratio = r.aw * fx + r.bw;
  const bool in_front = ratio > kMinDepthRatio;
  const float inverse = reciprocal(in_front ? ratio : 1.0f);
  const float u = (r.ax * fx + r.bx) * inverse, v = (r.ay * fx + r.by) * inverse;
  const float uc = fminf(fmaxf(u, 0.0f), u_max), vc = fminf(fmaxf(v, 0.0f), v_max);
  inside = in_front && u == uc && v == vc;
  return {__float_as_uint(uc + magic), __float_as_uint(vc + magic)};
}

/// The quad at pixel (x, y) of a source that is stored as plain bytes (SourceStorage::kBytes).
__device__ __forceinline__ std::uint32_t quad_of_bytes(const DeviceSource& source, int channel, int x,
                                                       int y) {
  const std::size_t index = static_cast<std::size_t>(y) * static_cast<std::size_t>(source.pitch) + x;
  const auto* pixel = static_cast<const std::uint8_t*>(source.channel[channel]) + index;
  const int right = x + 1 < source.width ? 1 : 0;
  const int below = y + 1 < source.height ? source.pitch : 0;
  return kUpperPixels ^ (__ldg(pixel) | static_cast<std::uint32_t>(__ldg(pixel + right)) << 8 |
                         static_cast<std::uint32_t>(__ldg(pixel + below)) << 16 |
                         static_cast<std::uint32_t>(__ldg(pixel + below + right)) << 24);
}

/// The sample of such a source.
__device__ __forceinline__ std::uint32_t byte_sample(const DeviceSource& source, int channel,
                                                     BiasedPosition p) {
  const int x = static_cast<int>(p.u >> kSubpixelBits & 0x7FFFu) - static_cast<int>(kIndexBias);
  const int y = static_cast<int>(p.v >> kSubpixelBits & 0x7FFFu) - static_cast<int>(kIndexBias);
  return shifted_bilinear(quad_of_bytes(source, channel, x, y), p.u & 255u, p.v & 255u);
}

/// Bits 16..23 of four samples as the bytes of a word, the first sample in the lowest byte.
__device__ __forceinline__ std::uint32_t packed_samples(const std::uint32_t (&sample)[4]) {
  return __byte_perm(__byte_perm(sample[0], sample[1], 0x0062), __byte_perm(sample[2], sample[3], 0x0062),
                     0x5410);
}

}  // namespace recon::cuda

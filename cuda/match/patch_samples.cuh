#pragma once

#include <cstdint>

#include "cuda/match/sampling.cuh"
#include "match/patch_step.hpp"

/// Slanted patches compared with sources that are stored as quads: the arithmetic of patch_step.hpp to the
/// bit, in fewer registers and instructions. Levels are not relative to the centre, as variances and
/// covariances, which are exact, do not depend on that.

namespace recon::cuda {

/// A source as threads look it up in shared memory, each its own.
struct alignas(16) LaneSource {
  SourceWarp warp;
  float u_max, v_max;  ///< the last position, 1/256 pixel
  int u_last, v_last;  ///< the same, 1/65536 pixel
  const std::uint32_t* quads;
  std::uint32_t pitch;  ///< quads
};

__device__ inline LaneSource lane_source(const DeviceSource& source) {
  const int column = source.width - 1, row = source.height - 1;
  return {source.warp,
          static_cast<float>(column * kSubpixels),
          static_cast<float>(row * kSubpixels),
          column << 16,
          row << 16,
          static_cast<const std::uint32_t*>(source.channel[0]),
          static_cast<std::uint32_t>(source.pitch)};
}

/// The positions of a patch in 1/65536 pixel: the upper half is the pixel, the byte below the fraction of
/// samples. See PatchWarp.
struct LaneWarp {
  std::uint32_t u, v;  ///< of the first sample
  std::uint32_t ux, uy, vx, vy;
  const std::uint32_t* quads;
  std::uint32_t pitch;
  bool visible;  ///< if not, all samples are at the first pixel
};

constexpr int kLaneBits = 4;  ///< from 1/4096 to 1/65536 pixel

/// fixed_slope in 1/65536 pixel. A sum with 2^23 that is rounded down has the integer in its low bits; this
/// avoids the slow conversion.
__device__ __forceinline__ int lane_slope(float t) {
  constexpr std::uint32_t kBitsOfSum = 0x4B000000u;  // of 2^23
  const float sum = __fadd_rd(t * (1 << kPatchExtraBits) + 32768.5f, 8388608.0f);
  return static_cast<int>((__float_as_uint(sum) << kLaneBits) - ((kBitsOfSum + 32768u) << kLaneBits));
}

/// The same number, of which the compiler does not know how it is computed: otherwise it moves parts of that
/// into the loop over samples, or counts along with every sample of a row.
__device__ __forceinline__ std::uint32_t opaque(std::uint32_t a) {
  asm volatile("" : "+r"(a));
  return a;
}

/// See patch_warp.
template <int R>
__device__ __forceinline__ LaneWarp lane_warp(const LaneSource& source, int x, int y,
                                              const SlantedPlane& plane) {
  const SourceWarp s = source.warp;
  const float fx = static_cast<float>(x), limit = 2047.0f;
  const RowWarp row = row_warp(s, plane.w, y);
  const float depth_ratio = row.aw * fx + row.bw;
  const float inverse = reciprocal(depth_ratio);
  const float u = (row.ax * fx + row.bx) * inverse, v = (row.ay * fx + row.by) * inverse;
  const float zx = s.a[6] + plane.wx * s.b[2], zy = s.a[7] + plane.wy * s.b[2];
  const float ux = ((s.a[0] + plane.wx * s.b[0]) - u * zx) * inverse;
  const float uy = ((s.a[1] + plane.wy * s.b[0]) - u * zy) * inverse;
  const float vx = ((s.a[3] + plane.wx * s.b[1]) - v * zx) * inverse;
  const float vy = ((s.a[4] + plane.wy * s.b[1]) - v * zy) * inverse;
  const bool possible = depth_ratio > kMinDepthRatio && u >= 0.0f && u <= source.u_max && v >= 0.0f &&
                        v <= source.v_max && fabsf(ux) < limit && fabsf(uy) < limit && fabsf(vx) < limit &&
                        fabsf(vy) < limit;
  const int u0 = static_cast<int>(u * (1 << kPatchExtraBits) + 0.5f) << kLaneBits;
  const int v0 = static_cast<int>(v * (1 << kPatchExtraBits) + 0.5f) << kLaneBits;
  const int slope_ux = lane_slope(ux), slope_uy = lane_slope(uy);
  const int slope_vx = lane_slope(vx), slope_vy = lane_slope(vy);
  const int u_reach = R * (abs(slope_ux) + abs(slope_uy)), v_reach = R * (abs(slope_vx) + abs(slope_vy));
  const bool visible = possible && u0 >= u_reach && u0 + u_reach <= source.u_last && v0 >= v_reach &&
                       v0 + v_reach <= source.v_last;
  constexpr int kHalf = 1 << (kPatchExtraBits + kLaneBits - 1);  // positions are rounded to 1/256 pixel
  const auto if_visible = [visible](int a) { return opaque(visible ? static_cast<std::uint32_t>(a) : 0u); };
  return {if_visible(u0 + kHalf - R * (slope_ux + slope_uy)),
          if_visible(v0 + kHalf - R * (slope_vx + slope_vy)),
          if_visible(slope_ux),
          if_visible(slope_uy),
          if_visible(slope_vx),
          if_visible(slope_vy),
          source.quads,
          source.pitch,
          visible};
}

/// The patches of the pixels of a thread block, one for each thread. Word i of a row has the weights of
/// samples 2 i and 2 i + 1 in its lower half, their levels in its upper half.
template <int R, int kThreads>
struct PatchRows;

template <int kThreads>
struct PatchRows<2, kThreads> {
  uint2 first[5][kThreads];
  std::uint32_t last[5][kThreads];

  __device__ __forceinline__ void store(int row, int thread, const std::uint32_t (&words)[3]) {
    first[row][thread] = make_uint2(words[0], words[1]);
    last[row][thread] = words[2];
  }
  __device__ __forceinline__ void load(int row, int thread, std::uint32_t (&words)[3]) const {
    const uint2 two = first[row][thread];
    words[0] = two.x, words[1] = two.y, words[2] = last[row][thread];
  }
};

template <int kThreads>
struct PatchRows<3, kThreads> {
  uint4 rows[7][kThreads];

  __device__ __forceinline__ void store(int row, int thread, const std::uint32_t (&words)[4]) {
    rows[row][thread] = make_uint4(words[0], words[1], words[2], words[3]);
  }
  __device__ __forceinline__ void load(int row, int thread, std::uint32_t (&words)[4]) const {
    const uint4 four = rows[row][thread];
    words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
  }
};

/// The samples of one row of a patch while they are loaded: the quads, and the fractions of their positions.
template <int R>
struct RowSamples {
  std::uint32_t quads[2 * R + 1], u[2 * R + 1], v[2 * R + 1];

  /// @param first_u, first_v  of the first sample
  __device__ __forceinline__ RowSamples(const LaneWarp& warp, std::uint32_t first_u, std::uint32_t first_v) {
#pragma unroll
    for (int i = 0; i < 2 * R + 1; ++i, first_u += warp.ux, first_v += warp.vx) {
      u[i] = first_u, v[i] = first_v;
      quads[i] = __ldg(warp.quads + ((first_v >> 16) * warp.pitch + (first_u >> 16)));
    }
  }

  /// Adds the samples to the sums; see add_sample.
  __device__ __forceinline__ void add_to(PatchSums& sums, const std::uint32_t (&words)[R + 1]) const {
#pragma unroll
    for (int i = 0; i < 2 * R + 1; ++i) {
      const std::uint32_t fx = __byte_perm(u[i], 0, 0x4441), fy = __byte_perm(v[i], 0, 0x4441);
      const std::uint32_t q = shifted_bilinear(quads[i], fx, fy, 8192u) >> 14;
      // The upper halves of q and of its product with a weight are zero, so that the bytes of other samples
      // count nothing.
      const std::uint32_t word = words[i / 2] >> 8 * (i % 2);
      const std::uint32_t weighted = __dp2a_lo(q, word, 0u);
      sums.q += static_cast<std::int32_t>(weighted);
      sums.qq += static_cast<std::int32_t>(weighted * q);
      sums.qr = static_cast<std::int32_t>(__dp2a_hi(weighted, word, static_cast<std::uint32_t>(sums.qr)));
    }
  }
};

}  // namespace recon::cuda

#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "core/vec.hpp"

/// The geometry of the sweep, shared by CPU and GPU. Everything is a fixed sequence of single-precision
/// operations, each rounded on its own (build without contraction to FMA), and of integers: the same bits on
/// every machine.
///
/// Sources: R. Collins, A space-sweep approach to true multi-image matching, CVPR 1996 (the sweep);
/// E. Achten, 2025, Algorithm 1 (planes z_d, window sums); Hartley & Zisserman, Multiple View Geometry,
/// eq. 13.2 (the homography of a plane).

namespace recon {

/// The D hypotheses of a view: planes z = z_d, uniform in inverse depth, 1/z_d = 1/far + d (1/near - 1/far) /
/// (D - 1).
struct PlaneSet {
  float inverse_far;  ///< 1/z of plane 0
  float step;         ///< from one plane to the next, > 0
  int count;          ///< D
};

/// 1/z of plane `d`, which may lie between planes.
RECON_HD float inverse_depth(const PlaneSet& planes, float d) {
  return planes.inverse_far + d * planes.step;
}

/// The inverse depths that results may have.
struct InverseRange {
  float min, max;
};
RECON_HD bool contains(const InverseRange& range, float w) {
  return w >= range.min && w <= range.max;
}

/// Sample positions are in units of 1/256 pixel, as in GPU texture units.
constexpr int kSubpixelBits = 8;
constexpr int kSubpixels = 1 << kSubpixelBits;

/// Maps reference indices (x, y) and inverse depth w to source positions: the homography A + w b (0 0 1) of
/// the plane z = 1/w, with A = K_s R K_r^-1, b = K_s t, source_from_reference = (R, t), shifted so that both
/// sides count pixel indices, rows 0 and 1 scaled by 256.
struct SourceWarp {
  float a[9];
  float b[3];
};

/// A source position along a reference row: numerators and denominator are affine in x.
struct RowWarp {
  float ax, bx, ay, by, aw, bw;
};

/// The warp of row `fy` of the reference (a whole number) for the plane of inverse depth `w`.
RECON_HD RowWarp row_warp(const SourceWarp& s, float w, float fy) {
  RowWarp r;
  r.ax = s.a[0];
  r.bx = s.a[1] * fy + (s.a[2] + s.b[0] * w);
  r.ay = s.a[3];
  r.by = s.a[4] * fy + (s.a[5] + s.b[1] * w);
  r.aw = s.a[6];
  r.bw = s.a[7] * fy + (s.a[8] + s.b[2] * w);
  return r;
}
RECON_HD RowWarp row_warp(const SourceWarp& s, float w, int y) {
  return row_warp(s, w, static_cast<float>(y));
}

/// Minimum ratio of source depth to reference depth of a sample in front of the source.
constexpr float kMinDepthRatio = 1e-3f;

/// A position in a source image: clamped to it, in 1/256 pixel; `inside`: whether it was inside before
/// clamping.
struct SamplePosition {
  int u, v;
  bool inside;
};

/// Position of reference index `x` of the row in a source of `width` x `height` pixels (each <=
/// kMaxImageSide).
RECON_HD SamplePosition sample_position(const RowWarp& r, int x, int width, int height) {
  const float fx = static_cast<float>(x);
  const float depth_ratio = r.aw * fx + r.bw;
  const bool in_front = depth_ratio > kMinDepthRatio;
  const float inverse = 1.0f / (in_front ? depth_ratio : 1.0f);
  const float u = (r.ax * fx + r.bx) * inverse;
  const float v = (r.ay * fx + r.by) * inverse;
  const float u_max = static_cast<float>((width - 1) * kSubpixels);
  const float v_max = static_cast<float>((height - 1) * kSubpixels);
  const bool inside = in_front && u >= 0.0f && u <= u_max && v >= 0.0f && v <= v_max;
  const float uc = u < 0.0f ? 0.0f : (u > u_max ? u_max : u);
  const float vc = v < 0.0f ? 0.0f : (v > v_max ? v_max : v);
  // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, ties to even.
  const float magic = 12582912.0f;
  return {static_cast<int>((uc + magic) - magic), static_cast<int>((vc + magic) - magic), inside};
}

/// The bilinear sample of four neighbouring 8-bit pixels, rounded to 8 bits; fractions in 1/256, 0..255.
RECON_HD std::uint32_t bilinear(std::uint32_t p00, std::uint32_t p10, std::uint32_t p01, std::uint32_t p11,
                                std::uint32_t fx, std::uint32_t fy) {
  const std::uint32_t top = p00 * (256u - fx) + p10 * fx;
  const std::uint32_t bottom = p01 * (256u - fx) + p11 * fx;
  return (top * (256u - fy) + bottom * fy + 32768u) >> 16;
}

}  // namespace recon

#pragma once

#include <cstdint>

#include "match/cost_step.hpp"
#include "match/warp_step.hpp"

/// The cost of a slanted patch: a window of the reference on a plane through the pixel, compared with a
/// source by a normalised cross-correlation with bilateral weights. The plane's homography is replaced by its
/// affine approximation at the pixel. Weights, samples and sums are integers, so their order does not matter;
/// the rest is a fixed sequence of single-precision operations: the same bits on every machine.
///
/// Sources: M. Bleyer, C. Rhemann, C. Rother, PatchMatch stereo, BMVC 2011 (slanted supports); J.
/// Schoenberger et al., Pixelwise view selection for unstructured multi-view stereo, ECCV 2016, section 4.3
/// (bilateral weights in the correlation).

namespace recon {

/// A plane at a reference pixel: the inverse depth there, and its change from one pixel to the next in a row
/// and in a column. The inverse depth of a plane is affine over the image.
struct SlantedPlane {
  float w;
  float wx, wy;
};

/// The inverse depth of the plane of pixel (x, y) at pixel (x + dx, y + dy).
RECON_HD float inverse_depth(const SlantedPlane& plane, float dx, float dy) {
  return plane.w + (plane.wx * dx + plane.wy * dy);
}

/// Positions of patch samples are in units of 1/4096 pixel, those of the warp in 1/256 pixel.
constexpr int kPatchExtraBits = 4;
constexpr int kPatchSubpixels = kSubpixels << kPatchExtraBits;

constexpr int kMaxPatchRadius = 3;
/// The number of samples of a patch.
RECON_HD constexpr int patch_samples(int radius) {
  return (2 * radius + 1) * (2 * radius + 1);
}

/// Sums stay below 2^31: weights are at most 31, samples differ by at most 1020 quarter levels from the
/// centre, and the largest patch with all weights equal has 49 samples.
constexpr int kMaxPatchWeight = 31;

/// The sample at offset (dx, dy) of a patch lies at (u + dx ux + dy uy, v + dx vx + dy vy) in the source, in
/// 1/4096 pixel.
struct PatchWarp {
  std::int32_t u, v;
  std::int32_t ux, uy, vx, vy;
  bool visible;  ///< the whole patch lies inside the source
};

/// The nearest integer of 16 `t`, |t| < 2048.
RECON_HD std::int32_t fixed_slope(float t) {
  return static_cast<std::int32_t>(t * (1 << kPatchExtraBits) + 32768.5f) - 32768;
}

/// Warps the patch of reference pixel (x, y) into a source of `width` x `height` pixels. A patch that is
/// magnified eightfold or more is not visible.
RECON_HD PatchWarp patch_warp(const SourceWarp& s, int x, int y, const SlantedPlane& plane, int radius,
                              int width, int height) {
  PatchWarp warp = {0, 0, 0, 0, 0, 0, false};
  const float fx = static_cast<float>(x);
  const RowWarp row = row_warp(s, plane.w, y);
  const float depth_ratio = row.aw * fx + row.bw;
  if (!(depth_ratio > kMinDepthRatio)) return warp;
  const float inverse = 1.0f / depth_ratio;
  const float u = (row.ax * fx + row.bx) * inverse;
  const float v = (row.ay * fx + row.by) * inverse;
  const float u_max = static_cast<float>((width - 1) * kSubpixels);
  const float v_max = static_cast<float>((height - 1) * kSubpixels);
  if (!(u >= 0.0f && u <= u_max && v >= 0.0f && v <= v_max)) return warp;
  // Derivatives of the homography at the pixel.
  const float zx = s.a[6] + plane.wx * s.b[2], zy = s.a[7] + plane.wy * s.b[2];
  const float ux = ((s.a[0] + plane.wx * s.b[0]) - u * zx) * inverse;
  const float uy = ((s.a[1] + plane.wy * s.b[0]) - u * zy) * inverse;
  const float vx = ((s.a[3] + plane.wx * s.b[1]) - v * zx) * inverse;
  const float vy = ((s.a[4] + plane.wy * s.b[1]) - v * zy) * inverse;
  const float limit = 2047.0f;
  if (!(ux > -limit && ux < limit && uy > -limit && uy < limit && vx > -limit && vx < limit && vy > -limit &&
        vy < limit))
    return warp;
  warp.u = static_cast<std::int32_t>(u * (1 << kPatchExtraBits) + 0.5f);
  warp.v = static_cast<std::int32_t>(v * (1 << kPatchExtraBits) + 0.5f);
  warp.ux = fixed_slope(ux), warp.uy = fixed_slope(uy);
  warp.vx = fixed_slope(vx), warp.vy = fixed_slope(vy);
  const auto size = [](std::int32_t a) { return a < 0 ? -a : a; };
  const std::int32_t u_reach = radius * (size(warp.ux) + size(warp.uy));
  const std::int32_t v_reach = radius * (size(warp.vx) + size(warp.vy));
  warp.visible = warp.u >= u_reach && warp.u + u_reach <= (width - 1) * kPatchSubpixels &&
                 warp.v >= v_reach && warp.v + v_reach <= (height - 1) * kPatchSubpixels;
  return warp;
}

/// A position of a patch in 1/256 pixel, rounded.
RECON_HD std::int32_t sample_position(std::int32_t origin, int dx, int dy, std::int32_t by_x,
                                      std::int32_t by_y) {
  return (origin + dx * by_x + dy * by_y + (1 << (kPatchExtraBits - 1))) >> kPatchExtraBits;
}

/// The bilinear sample of four neighbouring 8-bit pixels in quarters of a level, 0..1020; fractions in 1/256.
RECON_HD std::int32_t quarter_bilinear(std::uint32_t p00, std::uint32_t p10, std::uint32_t p01,
                                       std::uint32_t p11, std::uint32_t fx, std::uint32_t fy) {
  const std::uint32_t top = p00 * (256u - fx) + p10 * fx;
  const std::uint32_t bottom = p01 * (256u - fx) + p11 * fx;
  return static_cast<std::int32_t>((top * (256u - fy) + bottom * fy + 8192u) >> 14);
}

/// Weighted sums over the reference patch: of the weights, of the levels and their squares; levels are
/// relative to the centre's.
struct ReferenceSums {
  std::int32_t weight = 0, r = 0, rr = 0;
};

/// The weighted variance of a patch, grey levels squared.
RECON_HD float patch_variance(const ReferenceSums& a) {
  const auto product = [](std::int32_t p, std::int32_t q) { return static_cast<std::int64_t>(p) * q; };
  const float weight = static_cast<float>(a.weight);
  return static_cast<float>(product(a.weight, a.rr) - product(a.r, a.r)) / (weight * weight);
}

/// Weighted sums with the samples q of a source, in quarters of a level relative to the reference's centre.
struct PatchSums {
  std::int32_t q = 0, qq = 0, qr = 0;
};

/// Adds a sample to the sums.
RECON_HD void add_sample(PatchSums& sums, std::int32_t weight, std::int32_t r, std::int32_t q) {
  const std::int32_t weighted = weight * q;
  sums.q += weighted;
  sums.qq += weighted * q;
  sums.qr += weighted * r;
}

/// 1 - the weighted ZNCC, [0, 2]; 1 where either patch is flat.
RECON_HD float patch_cost(const ReferenceSums& a, const PatchSums& b) {
  const auto product = [](std::int32_t p, std::int32_t q) { return static_cast<std::int64_t>(p) * q; };
  const std::int64_t variance_a = product(a.weight, a.rr) - product(a.r, a.r);
  const std::int64_t variance_b = product(a.weight, b.qq) - product(b.q, b.q);
  const std::int64_t covariance = product(a.weight, b.qr) - product(b.q, a.r);
  if (variance_a <= 0 || variance_b <= 0) return 1.0f;
  const float variances = static_cast<float>(variance_a) * static_cast<float>(variance_b);
  const float cost = 1.0f - static_cast<float>(covariance) * inverse_sqrt(variances);
  return cost < 0.0f ? 0.0f : cost > 2.0f ? 2.0f : cost;
}

/// How far the source position moves with the inverse depth at reference pixel (x, y), pixels per unit; 0
/// behind the source.
RECON_HD float parallax(const SourceWarp& s, int x, int y, float w) {
  const float fx = static_cast<float>(x);
  const RowWarp row = row_warp(s, w, y);
  const float depth_ratio = row.aw * fx + row.bw;
  if (!(depth_ratio > kMinDepthRatio)) return 0.0f;
  const float inverse = 1.0f / depth_ratio;
  const float du = (s.b[0] - (row.ax * fx + row.bx) * inverse * s.b[2]) * inverse;
  const float dv = (s.b[1] - (row.ay * fx + row.by) * inverse * s.b[2]) * inverse;
  const float square = du * du + dv * dv;
  return square > 0.0f ? square * inverse_sqrt(square) * (1.0f / kSubpixels) : 0.0f;
}

}  // namespace recon

#pragma once

#include <cmath>
#include <cstdint>

#include "match/warp_step.hpp"

namespace recon::cuda {

/// Visibility of a rectangle of the reference in a source, on one plane.
enum class Coverage : std::uint8_t {
  kNothing,  ///< `sample_position(...).inside` is false for every sample
  kAll,      ///< it is true for every sample, and no position needs clamping
  kSome,     ///< anything else, and whatever cannot be decided cheaply
};

/// Classifies the reference indices [x0, x1] x [y0, y1] on the plane of inverse depth `w`.
///
/// Depth ratio and numerators are affine in (x, y), so if the ratio is positive at the four corners, the
/// extremes of the position lie at corners. A margin of one pixel covers rounding: the error of each
/// numerator is at most four roundings of its largest term; the result is kSome if that could exceed 0.4
/// pixels.
RECON_HD Coverage tile_coverage(const SourceWarp& s, float w, int x0, int x1, int y0, int y1, int width,
                                int height) {
  const float rounding = 4.0f / 16777216.0f;
  const float margin = static_cast<float>(kSubpixels);
  const float fx1 = static_cast<float>(x1), fy1 = static_cast<float>(y1);
  float largest[3];
  for (int i = 0; i < 3; ++i)
    largest[i] =
        fabsf(s.a[3 * i]) * fx1 + fabsf(s.a[3 * i + 1]) * fy1 + fabsf(s.a[3 * i + 2]) + fabsf(s.b[i] * w);

  float ratio_min = 1e30f, ratio_max = -1e30f;
  float u_min = 1e30f, u_max = -1e30f, v_min = 1e30f, v_max = -1e30f;
  for (int corner = 0; corner < 4; ++corner) {
    const float fx = static_cast<float>(corner & 1 ? x1 : x0);
    const RowWarp r = row_warp(s, w, corner & 2 ? y1 : y0);
    const float ratio = r.aw * fx + r.bw;
    const float inverse = 1.0f / (ratio > kMinDepthRatio ? ratio : 1.0f);
    const float u = (r.ax * fx + r.bx) * inverse, v = (r.ay * fx + r.by) * inverse;
    ratio_min = ratio < ratio_min ? ratio : ratio_min;
    ratio_max = ratio > ratio_max ? ratio : ratio_max;
    u_min = u < u_min ? u : u_min;
    u_max = u > u_max ? u : u_max;
    v_min = v < v_min ? v : v_min;
    v_max = v > v_max ? v : v_max;
  }

  const float ratio_error = rounding * largest[2];
  if (!(ratio_error < 0.1f * kMinDepthRatio)) return Coverage::kSome;
  if (ratio_max < 0.5f * kMinDepthRatio) return Coverage::kNothing;
  if (!(ratio_min > 10.0f * kMinDepthRatio)) return Coverage::kSome;

  const float u_last = static_cast<float>((width - 1) * kSubpixels);
  const float v_last = static_cast<float>((height - 1) * kSubpixels);
  const float u_reach = fabsf(u_min) > fabsf(u_max) ? fabsf(u_min) : fabsf(u_max);
  const float v_reach = fabsf(v_min) > fabsf(v_max) ? fabsf(v_min) : fabsf(v_max);
  const float u_error = (rounding * largest[0] + u_reach * ratio_error) / ratio_min + rounding * u_reach;
  const float v_error = (rounding * largest[1] + v_reach * ratio_error) / ratio_min + rounding * v_reach;
  const bool u_known = u_error < 0.4f * margin, v_known = v_error < 0.4f * margin;
  if (u_known && (u_max < -margin || u_min > u_last + margin)) return Coverage::kNothing;
  if (v_known && (v_max < -margin || v_min > v_last + margin)) return Coverage::kNothing;
  const bool all = u_known && v_known && u_min >= margin && u_max <= u_last - margin && v_min >= margin &&
                   v_max <= v_last - margin;
  return all ? Coverage::kAll : Coverage::kSome;
}

}  // namespace recon::cuda

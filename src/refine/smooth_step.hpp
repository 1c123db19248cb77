#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "refine/disparity_bounds.hpp"
#include "refine/normal_step.hpp"

namespace recon {

/// Pixels around a disparity that its smoothing reads.
inline constexpr int kSmoothRadius = kWideNormalCells * normal_stride(1);
/// Max difference of a pixel of the surface from the centre, then from the plane of the narrow window: so
/// many pixels, so many standard deviations and this much.
inline constexpr float kSmoothReach = 1.0f, kSmoothDeviations = 3.0f, kSmoothFloor = 0.1f;
/// Min number of pixels of a surface in a window.
inline constexpr int kMinSmoothSupport = 9;
/// Independent pixels of the narrow window, per pixel: neighbours share their error.
inline constexpr float kIndependentShare = 0.25f;
/// Distance of a surface from its plane, pixels per square pixel of the window's radius, and the square of
/// the noise where none is measured.
inline constexpr float kSmoothBend = 0.002f, kLeastVariance = 1e-4f;

/// The expected square of the error of the plane of a window at its centre.
/// @param count  independent pixels
RECON_HD float plane_error(float variance, float count, int radius) {
  const float bend = kSmoothBend * static_cast<float>(radius * radius);
  return (variance + kLeastVariance) / count + bend * bend;
}

/// The cells of a window to each side of its centre.
template <int kCells>
struct SmoothCells {
  static constexpr int value = kCells;
};

/// The disparity of a pixel on the planes of its surface in two windows, 7 x 7 pixels and 5 x 5 of every
/// third: their mean, each weighted by the inverse of its expected error. As it is where the surface has too
/// few pixels, would move it by more than kSmoothReach or to the bounds, and at the bounds, whose pixels
/// count nothing elsewhere. A surface of a rectified pair that is a plane in
/// space is one in its disparities. The order and the rounding of the operations are part of the definition.
/// @param disparity  (dx, dy) -> that of the pixel at this offset, NaN where unknown or outside the image;
///                   known at the centre
template <class Disparity>
RECON_HD float smoothed_disparity(const DisparityBounds& bounds, const Disparity& disparity) {
  const float middle = disparity(0, 0);
  if (!is_between(bounds, middle)) return middle;
  const auto between = [&](int x, int y) {
    const float there = disparity(x, y);
    return is_between(bounds, there) ? there : __builtin_nanf("");
  };
  InverseDepthPlane base;
  base.c = middle;
  const auto sums_along = [&](const InverseDepthPlane& plane, int stride, float limit, auto cells) {
    const float across = plane.a * static_cast<float>(stride), down = plane.b * static_cast<float>(stride);
    const auto difference = [&](int x, int y) {
      return (between(x * stride, y * stride) - (plane.c + static_cast<float>(y) * down)) -
             static_cast<float>(x) * across;
    };
    return window_sums<decltype(cells)::value>(difference, limit);
  };
  const WindowSums near = sums_along(base, 1, kSmoothReach, SmoothCells<kNarrowNormalCells>{});
  const InverseDepthPlane narrow = fit_plane(near, base, 1);
  if (!narrow.known || near.n < kMinSmoothSupport) return middle;
  const float spread = kSmoothDeviations * std::sqrt(narrow.variance) + kSmoothFloor;
  const WindowSums far = sums_along(narrow, normal_stride(1), spread < kSmoothReach ? spread : kSmoothReach,
                                    SmoothCells<kWideNormalCells>{});
  const InverseDepthPlane wide = fit_plane(far, narrow, normal_stride(1));
  float smooth = narrow.c;
  if (wide.known && far.n >= kMinSmoothSupport) {
    const float variance = narrow.variance < wide.variance ? wide.variance : narrow.variance;
    const float of_narrow =
        plane_error(variance, kIndependentShare * static_cast<float>(near.n), kNarrowNormalCells);
    const float of_wide = plane_error(variance, static_cast<float>(far.n), kSmoothRadius);
    smooth = (narrow.c * of_wide + wide.c * of_narrow) / (of_narrow + of_wide);
  }
  const float moved = smooth < middle ? middle - smooth : smooth - middle;
  const bool inside = smooth >= bounds.first + 0.5f && smooth <= bounds.last - 0.5f;
  return inside && moved <= kSmoothReach ? smooth : middle;
}

}  // namespace recon

#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// The windows of a normal: of the first, which is narrow, all pixels; of each wider one a grid of 5 x 5, as
/// pixels close to each other share their error.
inline constexpr int kNormalWindows = 4;
inline constexpr int kNormalRadius = 24;      ///< of the widest window, pixels
inline constexpr int kNarrowNormalCells = 3;  ///< cells of the first window to each side of the centre
inline constexpr int kWideNormalCells = 2;

/// Pixels between the cells of a window.
RECON_HD constexpr int normal_stride(int window) {
  return window == 0 ? 1 : 3 << (window - 1);
}

RECON_HD constexpr int normal_window_radius(int window) {
  return (window == 0 ? kNarrowNormalCells : kWideNormalCells) * normal_stride(window);
}
static_assert(normal_window_radius(kNormalWindows - 1) == kNormalRadius);

/// Min number of pixels of a surface, and the max difference of their inverse depths from the centre's or
/// from the plane of the next narrower window, in units of the centre's.
inline constexpr int kMinNormalSupport = 6;
inline constexpr float kSameSurface = 0.03f;
/// Where the noise is small, wider windows have less: so many standard deviations and this much.
inline constexpr float kSameSurfaceDeviations = 3.0f, kSameSurfaceFloor = 0.001f;
/// The plane of the first window takes up noise, that of the second one less: its variance in units of that
/// of the second where there is only noise.
inline constexpr float kVarianceShare = 0.7f;
/// The square of the angle between a surface and its plane, radians^2 per pixel of the window's radius.
inline constexpr float kSurfaceBend = 5e-5f;

/// Sums over the cells of a window that lie on one surface: of the offsets (x, y), counted in cells, and of
/// the differences q of the inverse depth from a plane.
struct WindowSums {
  int n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  float q = 0, xq = 0, yq = 0, qq = 0;
};

/// @param difference  (x, y) -> q at a cell, NaN where unknown
/// @param limit       max |q| of a cell on the surface
template <int kCells, class Difference>
RECON_HD WindowSums window_sums(const Difference& difference, float limit) {
  WindowSums sums;
  const auto add = [&](int x, int y) {
    const float q = difference(x, y);
    if (!((q < 0 ? -q : q) <= limit)) return 0.0f;
    ++sums.n;
    sums.x += x, sums.y += y;
    sums.xx += x * x, sums.xy += x * y, sums.yy += y * y;
    return q;
  };
  for (int y = -kCells; y <= kCells; ++y) {
    float q = add(0, y), xq = 0, qq = q * q;
    for (int x = 1; x <= kCells; ++x) {
      const float before = add(-x, y), after = add(x, y);
      q = q + (before + after);
      xq = xq + static_cast<float>(x) * (after - before);
      qq = qq + (before * before + after * after);
    }
    sums.q = sums.q + q, sums.xq = sums.xq + xq, sums.qq = sums.qq + qq;
    sums.yq = sums.yq + static_cast<float>(y) * q;
  }
  return sums;
}

/// The affine function a dx + b dy + c of inverse depth that fits the pixels around one best.
struct InverseDepthPlane {
  float a = 0, b = 0, c = 0;
  float variance = 0;  ///< of the inverse depths around it
  float spread = 0;    ///< the variance of a and b in units of that of the inverse depths, 1/pixel^2
  bool known = false;
};

/// @param base  the plane from which the differences are counted
RECON_HD InverseDepthPlane fit_plane(const WindowSums& sums, const InverseDepthPlane& base, int stride) {
  const float n = static_cast<float>(sums.n), x = static_cast<float>(sums.x), y = static_cast<float>(sums.y);
  // n^2 times the covariances; those of the offsets are exact.
  const float xx = n * static_cast<float>(sums.xx) - x * x, yy = n * static_cast<float>(sums.yy) - y * y;
  const float xy = n * static_cast<float>(sums.xy) - x * y;
  const float xq = n * sums.xq - x * sums.q, yq = n * sums.yq - y * sums.q;
  const float determinant = xx * yy - xy * xy;
  const float a = (xq * yy - yq * xy) / determinant, b = (yq * xx - xq * xy) / determinant;
  const float squares = sums.qq - (sums.q * sums.q + (a * xq + b * yq)) / n;
  const float cell = 1.0f / static_cast<float>(stride);
  return {base.a + a * cell,
          base.b + b * cell,
          base.c + (sums.q - (a * x + b * y)) / n,
          (squares > 0 ? squares : 0.0f) / (n - 3.0f),
          n * (xx + yy) / determinant * (cell * cell),
          sums.n >= kMinNormalSupport && determinant > 0};
}

/// The plane of a window.
/// @param base          the plane of the next narrower window
/// @param limit         max distance of a pixel of the surface from it
/// @param inverse_depth see normal_step
template <int kCells, class InverseDepth>
RECON_HD InverseDepthPlane window_plane(const InverseDepthPlane& base, float limit, int stride,
                                        const InverseDepth& inverse_depth) {
  const float across = base.a * static_cast<float>(stride), down = base.b * static_cast<float>(stride);
  const auto difference = [&](int x, int y) {
    return (inverse_depth(x * stride, y * stride) - (base.c + static_cast<float>(y) * down)) -
           static_cast<float>(x) * across;
  };
  return fit_plane(window_sums<kCells>(difference, limit), base, stride);
}

/// Max distance of the pixels of a window from the plane of the next narrower one.
RECON_HD float surface_limit(const InverseDepthPlane& narrower, float middle) {
  const float widest = kSameSurface * middle;
  const float limit = kSameSurfaceDeviations * std::sqrt(narrower.variance) + kSameSurfaceFloor * middle;
  return limit < widest ? limit : widest;
}

/// The mean of the planes, each weighted by the inverse of its expected error: wide windows have little
/// noise, narrow ones follow the bends of the surface. The first is known.
RECON_HD InverseDepthPlane mean_plane(const InverseDepthPlane (&planes)[kNormalWindows], float middle,
                                      float focal_length) {
  const float narrow = planes[0].variance, wider = kVarianceShare * planes[1].variance;
  const float noise = planes[1].known ? 0.5f * (narrow + wider) : narrow;
  const float scale = middle / focal_length, bend = kSurfaceBend * (scale * scale);
  float error[kNormalWindows], least = 0;
  for (int k = 0; k < kNormalWindows; ++k) {
    error[k] = noise * planes[k].spread + bend * static_cast<float>(normal_window_radius(k));
    if (k == 0 || (planes[k].known && error[k] < least)) least = error[k];
  }
  InverseDepthPlane sum;
  float weights = 0;
  for (int k = 0; k < kNormalWindows; ++k) {
    if (!planes[k].known) continue;
    const float ratio = least / error[k], square = ratio * ratio, weight = square * square;
    weights = weights + weight;
    sum.a = sum.a + weight * planes[k].a, sum.b = sum.b + weight * planes[k].b;
    sum.c = sum.c + weight * planes[k].c;
  }
  return {sum.a / weights, sum.b / weights, sum.c / weights, 0, 0, true};
}

/// The normal at pixel (x, y), see normals_from_depth; NaN if unknown. The order and the rounding of the
/// operations are part of the definition.
/// @param inverse_depth  (dx, dy) -> 1 / z at (x + dx, y + dy), NaN where unknown or outside the image
template <class InverseDepth>
RECON_HD Vec3f normal_step(const Pinhole& camera, int x, int y, const InverseDepth& inverse_depth) {
  const float middle = inverse_depth(0, 0);
  InverseDepthPlane base, planes[kNormalWindows];
  base.c = middle;
  planes[0] = window_plane<kNarrowNormalCells>(base, kSameSurface * middle, 1, inverse_depth);
  if (!planes[0].known) return {NAN, NAN, NAN};
  base = planes[0];
  for (int k = 1; k < kNormalWindows; ++k) {
    planes[k] =
        window_plane<kWideNormalCells>(base, surface_limit(base, middle), normal_stride(k), inverse_depth);
    if (planes[k].known) base = planes[k];
  }
  const float fx = static_cast<float>(camera.fx), fy = static_cast<float>(camera.fy);
  const InverseDepthPlane plane = mean_plane(planes, middle, fx);
  // n . X = k and X = ray / w give w = n . ray / k: compare coefficients of the pixel coordinates. n . ray
  // has the sign of w; so the other one faces the camera.
  const float from_cx = (static_cast<float>(x) + 0.5f) - static_cast<float>(camera.cx);
  const float from_cy = (static_cast<float>(y) + 0.5f) - static_cast<float>(camera.cy);
  const float nx = plane.a * fx, ny = plane.b * fy, nz = (plane.c - plane.a * from_cx) - plane.b * from_cy;
  const float scale = -1.0f / std::sqrt((nx * nx + ny * ny) + nz * nz);
  return {scale * nx, scale * ny, scale * nz};
}

}  // namespace recon

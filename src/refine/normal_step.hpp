#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// Radius of the window of a normal, pixels.
inline constexpr int kNormalRadius = 3;
/// Min number of pixels of a surface, and the max difference of their inverse depths from the centre's.
inline constexpr int kMinNormalSupport = 6;
inline constexpr double kSameSurface = 0.03;

/// Sums over the pixels of a window that lie on the surface of its centre: of the offsets (dx, dy), which are
/// exact, and of the differences w of inverse depth.
struct NormalSums {
  int n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  double w = 0, xw = 0, yw = 0;

  RECON_HD void add(int dx, int dy, double difference) {
    ++n;
    x += dx, y += dy;
    xx += dx * dx, xy += dx * dy, yy += dy * dy;
    w += difference, xw += dx * difference, yw += dy * difference;
  }
};

/// The normal at pixel (x, y), see normals_from_depth; NaN if unknown. The order and the rounding of the
/// operations are part of the definition.
/// @param inverse_depth  (dx, dy) -> 1 / z at (x + dx, y + dy), NaN where unknown or outside the image
template <class InverseDepth>
RECON_HD Vec3f normal_step(const Pinhole& camera, int x, int y, const InverseDepth& inverse_depth) {
  const double middle = inverse_depth(0, 0), limit = kSameSurface * middle;
  NormalSums sums;
  for (int dy = -kNormalRadius; dy <= kNormalRadius; ++dy)
    for (int dx = -kNormalRadius; dx <= kNormalRadius; ++dx) {
      const double difference = inverse_depth(dx, dy) - middle;
      if ((difference < 0 ? -difference : difference) <= limit) sums.add(dx, dy, difference);
    }
  const double n = sums.n, sx = sums.x, sy = sums.y;
  const double cxx = sums.xx - sx * sx / n, cxy = sums.xy - sx * sy / n, cyy = sums.yy - sy * sy / n;
  const double cxw = sums.xw - sx * sums.w / n, cyw = sums.yw - sy * sums.w / n;
  const double determinant = cxx * cyy - cxy * cxy;
  if (!(sums.n >= kMinNormalSupport && determinant > 1e-6 * n * n)) return {NAN, NAN, NAN};
  // The plane a dx + b dy + c of inverse depth.
  const double a = (cxw * cyy - cyw * cxy) / determinant, b = (cyw * cxx - cxw * cxy) / determinant;
  const double c = middle + (sums.w - a * sx - b * sy) / n;
  // n . X = k and X = ray / w give w = n . ray / k: compare coefficients of the pixel coordinates.
  const Vec2d centre = pixel_centre(x, y);
  const double from_cx = centre.x - camera.cx, from_cy = centre.y - camera.cy;
  const double nx = a * camera.fx, ny = b * camera.fy, nz = c - a * from_cx - b * from_cy;
  const double towards = nx * (from_cx / camera.fx) + ny * (from_cy / camera.fy) + nz;
  const double length = 1 / std::sqrt(nx * nx + ny * ny + nz * nz);
  const double scale = towards > 0 ? -length : length;
  return {static_cast<float>(scale * nx), static_cast<float>(scale * ny), static_cast<float>(scale * nz)};
}

}  // namespace recon

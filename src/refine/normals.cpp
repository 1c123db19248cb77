#include "refine/normals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr int kRadius = 3;
constexpr int kMinSupport = 6;
constexpr double kSameSurface = 0.03;

/// The affine function a dx + b dy + c of inverse depth around a pixel.
struct InverseDepthPlane {
  double a, b, c;
  bool known;
};

InverseDepthPlane fit_plane(ImageView<const float> depth, int x, int y) {
  const double middle = 1.0 / depth(x, y);
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, sw = 0, sxw = 0, syw = 0;
  for (int j = std::max(y - kRadius, 0); j <= std::min(y + kRadius, depth.height - 1); ++j) {
    for (int i = std::max(x - kRadius, 0); i <= std::min(x + kRadius, depth.width - 1); ++i) {
      const double w = 1.0 / depth(i, j) - middle;
      if (!(std::abs(w) <= kSameSurface * middle)) continue;
      const double dx = i - x, dy = j - y;
      n += 1, sx += dx, sy += dy, sxx += dx * dx, sxy += dx * dy, syy += dy * dy;
      sw += w, sxw += dx * w, syw += dy * w;
    }
  }
  if (n < kMinSupport) return {0, 0, 0, false};
  const double cxx = sxx - sx * sx / n, cxy = sxy - sx * sy / n, cyy = syy - sy * sy / n;
  const double cxw = sxw - sx * sw / n, cyw = syw - sy * sw / n;
  const double determinant = cxx * cyy - cxy * cxy;
  if (!(determinant > 1e-6 * n * n)) return {0, 0, 0, false};
  const double a = (cxw * cyy - cyw * cxy) / determinant, b = (cyw * cxx - cxw * cxy) / determinant;
  return {a, b, middle + (sw - a * sx - b * sy) / n, true};
}

}  // namespace

Image<Vec3f> normals_from_depth(ImageView<const float> depth, const Pinhole& camera) {
  EXPECTS(depth.width == camera.width && depth.height == camera.height);
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  Image<Vec3f> normals(depth.width, depth.height);
  parallel_for(depth.height, [&](int y) {
    for (int x = 0; x < depth.width; ++x) {
      normals(x, y) = {kUnknown, kUnknown, kUnknown};
      if (std::isnan(depth(x, y))) continue;
      const InverseDepthPlane plane = fit_plane(depth, x, y);
      if (!plane.known) continue;
      // n . X = k and X = ray / w give w = n . ray / k: compare coefficients of the pixel coordinates.
      const Vec2d pixel = pixel_centre(x, y);
      const Vec3d scaled = {plane.a * camera.fx, plane.b * camera.fy,
                            plane.c - plane.a * (pixel.x - camera.cx) - plane.b * (pixel.y - camera.cy)};
      const Vec3d n = normalized(dot(scaled, camera.ray(pixel)) > 0 ? -scaled : scaled);
      normals(x, y) = {static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)};
    }
  });
  return normals;
}

}  // namespace recon

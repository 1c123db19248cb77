#include "reference/plane_match_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace recon::reference {

namespace {

double bilinear(ImageView<const std::uint8_t> image, double x, double y) {
  const int u = std::min(static_cast<int>(std::floor(x)), image.width - 2);
  const int v = std::min(static_cast<int>(std::floor(y)), image.height - 2);
  const double a = x - u, b = y - v;
  return (1 - a) * (1 - b) * image(u, v) + a * (1 - b) * image(u + 1, v) + (1 - a) * b * image(u, v + 1) +
         a * b * image(u + 1, v + 1);
}

double zncc(const std::vector<double>& a, const std::vector<double>& b) {
  double mean_a = 0, mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) mean_a += a[i], mean_b += b[i];
  mean_a /= static_cast<double>(a.size()), mean_b /= static_cast<double>(b.size());
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

Vec3d point_on_plane(Vec3d normal, double offset, const Pinhole& camera, const Pose& cam_from_world,
                     Vec2d pixel) {
  // x_world = R^T (s ray - t).
  const Mat3d& r = cam_from_world.rotation;
  const Vec3d t = cam_from_world.translation;
  const auto turned_back = [&](Vec3d a) {
    return Vec3d{r(0, 0) * a.x + r(1, 0) * a.y + r(2, 0) * a.z, r(0, 1) * a.x + r(1, 1) * a.y + r(2, 1) * a.z,
                 r(0, 2) * a.x + r(1, 2) * a.y + r(2, 2) * a.z};
  };
  const Vec3d centre = turned_back({-t.x, -t.y, -t.z});
  const Vec3d ray = turned_back({(pixel.x - camera.cx) / camera.fx, (pixel.y - camera.cy) / camera.fy, 1});
  const double s = (offset - dot(normal, centre)) / dot(normal, ray);
  return centre + s * ray;
}

double plane_zncc(Vec3d normal, double offset, const PlanePhoto& reference,
                  const std::vector<PlanePhoto>& sources, int x, int y, double margin) {
  std::vector<double> window;
  for (int j = -4; j <= 4; j += 2)
    for (int i = -4; i <= 4; i += 2) window.push_back(reference.grey(x + i, y + j));
  std::vector<double> all;
  for (const PlanePhoto& source : sources) {
    std::vector<double> seen;
    for (int j = -4; j <= 4; j += 2)
      for (int i = -4; i <= 4; i += 2) {
        const Vec3d in_source =
            source.cam_from_world * point_on_plane(normal, offset, reference.camera, reference.cam_from_world,
                                                   {x + i + 0.5, y + j + 0.5});
        if (!(in_source.z > 0)) continue;
        const Vec2d at = source.camera.project(in_source);
        const double u = at.x - 0.5, v = at.y - 0.5;
        if (u >= margin && v >= margin && u <= source.grey.width - 1 - margin &&
            v <= source.grey.height - 1 - margin)
          seen.push_back(bilinear(source.grey, std::max(0.0, u), std::max(0.0, v)));
      }
    if (seen.size() == window.size()) all.push_back(zncc(window, seen));
  }
  if (all.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  std::sort(all.begin(), all.end());
  return (all[all.size() - 1] + all[all.size() - 2]) / 2;
}

}  // namespace recon::reference

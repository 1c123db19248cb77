#include "reference/patch_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace recon::reference {
namespace {

struct Position {
  double u, v;
  bool in_front;
};

/// The source index of the point of inverse depth `w` on the ray of reference index (x, y).
Position projected(const PosedImage& reference, const PosedImage& source, double x, double y, double w) {
  const Pinhole &r = reference.camera, &s = source.camera;
  const double z = 1 / w;
  const double point[3] = {(x + 0.5 - r.cx) / r.fx * z, (y + 0.5 - r.cy) / r.fy * z, z};
  const Vec3d &rt = reference.cam_from_world.translation, &st = source.cam_from_world.translation;
  const double moved[3] = {point[0] - rt.x, point[1] - rt.y, point[2] - rt.z};
  double world[3] = {0, 0, 0}, seen[3] = {st.x, st.y, st.z};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) world[i] += reference.cam_from_world.rotation(j, i) * moved[j];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) seen[i] += source.cam_from_world.rotation(i, j) * world[j];
  return {s.fx * seen[0] / seen[2] + s.cx - 0.5, s.fy * seen[1] / seen[2] + s.cy - 0.5, seen[2] > 1e-3 * z};
}

double sample(ImageView<const std::uint8_t> image, double u, double v) {
  const double x = std::clamp(u, 0.0, image.width - 1.0), y = std::clamp(v, 0.0, image.height - 1.0);
  const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
  const int x1 = std::min(x0 + 1, image.width - 1), y1 = std::min(y0 + 1, image.height - 1);
  return (1 - (y - y0)) * ((1 - (x - x0)) * image(x0, y0) + (x - x0) * image(x1, y0)) +
         (y - y0) * ((1 - (x - x0)) * image(x0, y1) + (x - x0) * image(x1, y1));
}

double correlation_cost(const std::vector<double>& weights, const std::vector<double>& a,
                        const std::vector<double>& b) {
  double weight = 0, mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    weight += weights[k], mean_a += weights[k] * a[k], mean_b += weights[k] * b[k];
  mean_a /= weight, mean_b /= weight;
  for (std::size_t k = 0; k < a.size(); ++k) {
    aa += weights[k] * (a[k] - mean_a) * (a[k] - mean_a);
    bb += weights[k] * (b[k] - mean_b) * (b[k] - mean_b);
    ab += weights[k] * (a[k] - mean_a) * (b[k] - mean_b);
  }
  return aa < 1e-9 || bb < 1e-9 ? 1.0 : 1 - ab / std::sqrt(aa * bb);
}

}  // namespace

TextbookPatch compare_patch(const PosedImage& reference, const PosedImage& source, int x, int y,
                            const TextbookPlane& plane, int radius, PatchMap map) {
  const ImageView<const std::uint8_t> image = reference.channel[0];
  const auto exact = [&](double dx, double dy) {
    return projected(reference, source, x + dx, y + dy, plane.w + plane.wx * dx + plane.wy * dy);
  };
  const Position centre = exact(0, 0);
  if (!centre.in_front) return {0, -std::numeric_limits<double>::infinity(), 0};
  constexpr double kStep = 1e-4;
  const Position left = exact(-kStep, 0), right = exact(kStep, 0), above = exact(0, -kStep),
                 below = exact(0, kStep);
  const double ux = (right.u - left.u) / (2 * kStep), vx = (right.v - left.v) / (2 * kStep);
  const double uy = (below.u - above.u) / (2 * kStep), vy = (below.v - above.v) / (2 * kStep);
  std::vector<double> weights, a, b;
  double margin = std::numeric_limits<double>::infinity();
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const Position at = map == PatchMap::kExact
                              ? exact(dx, dy)
                              : Position{centre.u + dx * ux + dy * uy, centre.v + dx * vx + dy * vy, true};
      margin =
          std::min({margin, at.u, at.v, source.camera.width - 1 - at.u, source.camera.height - 1 - at.v});
      if (x + dx < 0 || y + dy < 0 || x + dx >= image.width || y + dy >= image.height) continue;
      const double level = image(x + dx, y + dy), difference = std::abs(level - image(x, y));
      weights.push_back(std::round(31 * std::exp(-(dx * dx + dy * dy) / 50.0 - difference / 18)) / 31);
      a.push_back(level);
      b.push_back(sample(source.channel[0], at.u, at.v));
    }
  return {correlation_cost(weights, a, b), margin,
          std::max({std::abs(ux), std::abs(uy), std::abs(vx), std::abs(vy)})};
}

}  // namespace recon::reference

#include "render/view_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "scene/camera.hpp"

namespace recon {
namespace {

double angle_between(Vec3d a, Vec3d b) {
  return std::acos(std::clamp(dot(a, b), -1.0, 1.0));
}

/// The largest angle to the axis of what a camera sees, with a margin. Lenses are monotonic, so it is that of
/// a pixel on the border; all directions, where one of them has no ray.
double view_angle(const Camera& camera) {
  constexpr int kSteps = 64;
  constexpr double kMargin = 1.05, kLeast = 0.02;
  if (is_panorama(camera.model)) return std::numbers::pi;
  const Lens lens(camera);
  double largest = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = static_cast<double>(camera.width) * i / kSteps,
                 y = static_cast<double>(camera.height) * i / kSteps;
    for (const Vec2d& pixel : {Vec2d{x, 0}, Vec2d{x, static_cast<double>(camera.height)}, Vec2d{0, y},
                               Vec2d{static_cast<double>(camera.width), y}}) {
      const auto ray = lens.unproject(pixel);
      if (!ray) return std::numbers::pi;
      largest = std::max(largest, angle_between(*ray, {0, 0, 1}));
    }
  }
  return std::min(largest * kMargin + kLeast, std::numbers::pi);
}

}  // namespace

ViewTree::ViewTree(const SceneDescription& description) : views_(static_cast<int>(description.views.size())) {
  if (views_ == 0) return;
  std::vector<double> angles;
  for (const Camera& camera : description.cameras) angles.push_back(view_angle(camera));
  std::vector<Cone> views;
  for (const RenderView& view : description.views)
    views.push_back({camera_centre(view.cam_from_world), 0,
                     transpose(view.cam_from_world.rotation) * Vec3d{0, 0, 1}, angles[view.camera]});
  nodes_.resize(2 * std::bit_ceil(static_cast<unsigned>(views_)));
  build(0, 0, views_, views);
}

void ViewTree::build(int node, int begin, int end, const std::vector<Cone>& views) {
  if (end - begin == 1) {
    nodes_[node] = views[begin];
    return;
  }
  const int middle = begin + (end - begin) / 2;
  build(2 * node + 1, begin, middle, views);
  build(2 * node + 2, middle, end, views);
  nodes_[node] = around(nodes_[2 * node + 1], nodes_[2 * node + 2]);
}

ViewTree::Cone ViewTree::around(const Cone& a, const Cone& b) {
  constexpr double kMargin = 1e-6;  // for rounding
  Cone cone;
  cone.centre = 0.5 * (a.centre + b.centre);
  cone.radius = (0.5 * norm(a.centre - b.centre) + std::max(a.radius, b.radius)) * (1 + kMargin);
  const Vec3d sum = a.axis + b.axis;
  cone.axis = norm(sum) > kMargin ? normalized(sum) : a.axis;
  cone.half_angle = kMargin + std::max(angle_between(cone.axis, a.axis) + a.half_angle,
                                       angle_between(cone.axis, b.axis) + b.half_angle);
  return cone;
}

bool ViewTree::Cone::holds(Vec3d place) const {
  const Vec3d way = place - centre;
  const double distance = norm(way);
  // From anywhere in the sphere the direction differs by at most this from that of `way`.
  const double spread = distance > radius ? std::asin(radius / distance) : std::numbers::pi;
  const double reach = half_angle + spread;
  return reach >= std::numbers::pi || dot(way, axis) >= std::cos(reach) * distance;
}

}  // namespace recon

#include "scene/view_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/hypotenuse.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"

namespace recon {
namespace {

/// Min sine of the angle between axes: below it, the depth of the crossing is ill-conditioned.
constexpr double kMinCrossingSine = 0.035;  // 2 degrees
constexpr double kMaxCrossingGap = 0.2;
/// A view has its own distance if it has at least this many crossings, half of them within this factor.
constexpr std::size_t kMinCrossings = 5;
constexpr double kMaxCrossingSpread = 2;

/// Of the faces of a photo, the first one looks along the axis of a lens; a panorama has none.
bool is_aimed(const View& view) {
  return !view.face || (view.face->side == "front" && !is_panorama(view.face->lens.model));
}

}  // namespace

bool ViewGeometry::sees(Vec3d x) const {
  const std::optional<Vec2d> p = lens->project(cam_from_world * x);
  return p && p->x >= 0 && p->y >= 0 && p->x <= width && p->y <= height;
}

std::optional<double> ViewGeometry::half_angle() const {
  // The maximum angles lie on the image border, since the lens mapping is injective; they vary little between
  // the samples.
  constexpr int kSamples = 8;
  constexpr double kMargin = 0.02, kMaxAngle = 80 * std::numbers::pi / 180;
  double max_angle = 0;
  for (int i = 0; i <= kSamples; ++i) {
    const double x = static_cast<double>(i) / kSamples * width,
                 y = static_cast<double>(i) / kSamples * height;
    const double w = width, h = height;
    for (const Vec2d pixel : {Vec2d{x, 0}, Vec2d{x, h}, Vec2d{0, y}, Vec2d{w, y}}) {
      const std::optional<Vec3d> ray = lens->unproject(pixel);
      if (!ray) return std::nullopt;
      max_angle = std::max(max_angle, std::atan2(hypotenuse(ray->x, ray->y), ray->z) + kMargin);
    }
  }
  if (max_angle > kMaxAngle) return std::nullopt;
  return max_angle;
}

Vec3d ViewGeometry::point_at(Vec3d ray, double z) const {
  return transpose(cam_from_world.rotation) * (z * ray) + centre;
}

std::vector<Vec3d> ViewGeometry::ray_grid(int n) const {
  std::vector<Vec3d> rays;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const auto ray = lens->unproject({(i + 0.5) / n * width, (j + 0.5) / n * height});
      if (ray && ray->z > 0.05) rays.push_back((1 / ray->z) * *ray);
    }
  return rays;
}

SceneGeometry::SceneGeometry(const Scene& scene) {
  lenses_.reserve(scene.cameras.size());
  for (const Camera& camera : scene.cameras) lenses_.emplace_back(camera);
  views_.reserve(scene.views.size());
  std::map<std::string_view, int> photos;
  for (const View& view : scene.views) {
    EXPECTS(view.camera >= 0 && static_cast<std::size_t>(view.camera) < scene.cameras.size());
    const Camera& camera = scene.cameras[view.camera];
    const Lens& lens = lenses_[view.camera];
    const double focal = std::sqrt(std::abs(lens.focal().x * lens.focal().y));
    views_.push_back(
        {&lens, camera.width, camera.height, focal, view.cam_from_world, camera_centre(view.cam_from_world),
         transpose(view.cam_from_world.rotation) * Vec3d{0, 0, 1},
         photos.emplace(view.photo_name(), static_cast<int>(photos.size())).first->second, is_aimed(view)});
  }
}

double triangulation_angle(Vec3d x, Vec3d centre_a, Vec3d centre_b) {
  const Vec3d a = centre_a - x, b = centre_b - x;
  return std::atan2(norm(cross(a, b)), dot(a, b)) * 180 / std::numbers::pi;
}

std::optional<double> axis_crossing(const ViewGeometry& a, const ViewGeometry& b) {
  const Vec3d between = b.centre - a.centre;
  const double cosine = dot(a.axis, b.axis), sine2 = 1 - cosine * cosine;
  if (sine2 < kMinCrossingSine * kMinCrossingSine) return std::nullopt;
  const auto [along_a, along_b] = nearest_on_lines(between, a.axis, b.axis, sine2);
  if (along_a <= 0 || along_b <= 0) return std::nullopt;
  const Vec3d gap = (b.centre + along_b * b.axis) - (a.centre + along_a * a.axis);
  if (norm(gap) > kMaxCrossingGap * std::min(along_a, along_b)) return std::nullopt;
  return along_a;
}

std::vector<int> nearest_views(const SceneGeometry& views, int reference, int count) {
  if (count <= 0) return {};
  // The nearest so far, a heap with the farthest of them first.
  std::vector<std::pair<double, int>> nearest;
  const auto offer = [&](int v) {
    if (v < 0 || v >= views.size() || views[v].photo == views[reference].photo) return;
    const std::pair<double, int> other(norm(views[v].centre - views[reference].centre), v);
    if (nearest.size() == static_cast<std::size_t>(count)) {
      if (!(other < nearest.front())) return;
      std::pop_heap(nearest.begin(), nearest.end());
      nearest.pop_back();
    }
    nearest.push_back(other);
    std::push_heap(nearest.begin(), nearest.end());
  };
  // Neighbours in the order of the capture are mostly near: with them first, few others enter the heap.
  for (int step = 1; step < views.size(); ++step) {
    offer(reference - step);
    offer(reference + step);
  }
  std::sort_heap(nearest.begin(), nearest.end());
  std::vector<int> result;
  for (const auto& [distance, v] : nearest) result.push_back(v);
  return result;
}

std::vector<std::optional<double>> viewing_distances(const SceneGeometry& views) {
  std::vector<std::optional<double>> distances(views.size());
  std::vector<std::vector<double>> crossings(distances.size());
  parallel_for(views.size(), [&](int v) {
    std::vector<double>& own = crossings[v];
    if (!views[v].aimed) return;
    for (const int other : nearest_views(views, v, kMaxNeighbours))
      if (const auto depth = axis_crossing(views[v], views[other]); depth && views[other].aimed)
        own.push_back(*depth);
    if (own.size() >= kMinCrossings && quantile(own, 0.75) < kMaxCrossingSpread * quantile(own, 0.25))
      distances[v] = quantile(own, 0.5);
  });
  std::vector<double> all;
  for (const std::vector<double>& own : crossings) all.insert(all.end(), own.begin(), own.end());
  std::size_t aimed = 0;
  for (int v = 0; v < views.size(); ++v) aimed += views[v].aimed ? 1 : 0;
  // Fewer than one crossing per view is not significant.
  if (all.empty() || all.size() < aimed) return std::vector<std::optional<double>>(distances.size());
  const double common = quantile(all, 0.5);
  for (std::optional<double>& distance : distances)
    if (!distance) distance = common;
  return distances;
}

}  // namespace recon

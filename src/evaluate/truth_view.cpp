#include "evaluate/truth_view.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scene/pinhole.hpp"

namespace recon {
namespace {

constexpr int kObserveGrain = 1024;

/// A camera prepared for many points. Most scenes are undistorted, and a pinhole needs no search for the
/// radius.
class PreparedCamera {
 public:
  explicit PreparedCamera(const Camera& camera)
      : pinhole_(as_pinhole(camera)), lens_(camera), panorama_(is_panorama(camera.model)) {}

  /// The depth of a point in camera coordinates as the truth has it.
  double depth(Vec3d x_in_cam) const { return panorama_ ? norm(x_in_cam) : x_in_cam.z; }

  /// Projects a point in front of the camera.
  std::optional<Vec2d> project(Vec3d x_in_cam) const {
    return pinhole_ ? std::optional(pinhole_->project(x_in_cam)) : lens_.project(x_in_cam);
  }
  /// The point at `pixel` whose depth is 1.
  std::optional<Vec3d> ray(Vec2d pixel) const {
    if (pinhole_) return pinhole_->ray(pixel);
    const std::optional<Vec3d> direction = lens_.unproject(pixel);
    if (panorama_) return direction;
    return direction && direction->z > 0 ? std::optional((1 / direction->z) * *direction) : std::nullopt;
  }

 private:
  std::optional<Pinhole> pinhole_;
  Lens lens_;
  bool panorama_;
};

}  // namespace

bool is_known_depth(float depth) {
  return std::isfinite(depth) && depth > 0;
}

std::vector<Vec3d> truth_points(const TruthView& view) {
  EXPECTS(view.depth.width == view.camera.width && view.depth.height == view.camera.height);
  const Pose world_from_cam = inverse(view.cam_from_world);
  const PreparedCamera camera(view.camera);
  std::vector<std::vector<Vec3d>> rows(view.depth.height);
  parallel_for(view.depth.height, [&](int y) {
    for (int x = 0; x < view.depth.width; ++x) {
      const float depth = view.depth(x, y);
      if (!is_known_depth(depth)) continue;
      const std::optional<Vec3d> ray = camera.ray(pixel_centre(x, y));
      if (!ray) continue;
      rows[y].push_back(world_from_cam * (static_cast<double>(depth) * *ray));
    }
  });
  std::vector<Vec3d> points;
  for (const std::vector<Vec3d>& row : rows) points.insert(points.end(), row.begin(), row.end());
  return points;
}

void observe(std::span<const Vec3d> points, const TruthView& view, const std::vector<std::uint8_t>& own_view,
             std::vector<PointVerdict>& verdicts) {
  EXPECTS(view.depth.width == view.camera.width && view.depth.height == view.camera.height);
  EXPECTS(verdicts.size() == points.size() && (own_view.empty() || own_view.size() == points.size()));
  const PreparedCamera camera(view.camera);
  parallel_for(
      static_cast<int>(points.size()),
      [&](int i) {
        const Vec3d x_in_cam = view.cam_from_world * points[i];
        const double depth = camera.depth(x_in_cam);
        if (!(depth > 0) || !std::isfinite(depth)) return;
        const std::optional<Vec2d> pixel = camera.project(x_in_cam);
        if (!pixel ||
            !(pixel->x >= 0 && pixel->x < view.depth.width && pixel->y >= 0 && pixel->y < view.depth.height))
          return;
        const float truth = view.depth(static_cast<int>(pixel->x), static_cast<int>(pixel->y));
        if (!is_known_depth(truth)) return;
        PointVerdict& verdict = verdicts[i];
        verdict.on_truth = true;
        if (!own_view.empty() && own_view[i] == 0) return;
        const double error = std::abs(depth - static_cast<double>(truth)) / static_cast<double>(truth);
        verdict.depth_error = std::min(verdict.depth_error.value_or(error), error);
      },
      kObserveGrain);
}

}  // namespace recon

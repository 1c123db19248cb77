#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "scene/scene.hpp"

namespace recon::test {

inline constexpr double kPi = std::numbers::pi;

/// A camera at `centre` that looks at `target`; the y axis of its image points as close to `down` as
/// possible.
inline Pose looking_at(Vec3d centre, Vec3d target, Vec3d down = {0, 1, 0}) {
  const Vec3d z = normalized(target - centre), x = normalized(cross(down, z)), y = cross(z, x);
  const Mat3d rotation{{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
  return {rotation, -(rotation * centre)};
}

inline void add_view(Scene& scene, const Pose& pose, int camera = 0) {
  View view;
  view.id = static_cast<std::uint32_t>(scene.views.size() + 1);
  view.name = "view" + std::to_string(scene.views.size()) + ".png";
  view.camera = camera;
  view.cam_from_world = pose;
  scene.views.push_back(view);
}

/// A scene with one camera, f = 500, 640 x 480, and no views.
inline Scene empty_scene() {
  Scene scene;
  scene.camera_ids = {1};
  scene.cameras = {{CameraModel::kPinhole, 640, 480, {500, 500, 320, 240}}};
  return scene;
}

/// Adds a point with a track of all views whose image contains it.
inline void add_point(Scene& scene, Vec3d x) {
  SparsePoint point;
  point.id = 1000 + 7 * scene.points.size();
  point.position = x;
  for (std::size_t v = 0; v < scene.views.size(); ++v) {
    View& view = scene.views[v];
    const Camera& camera = scene.cameras[static_cast<std::size_t>(view.camera)];
    const auto pixel = Lens(camera).project(view.cam_from_world * x);
    if (!pixel || pixel->x < 0 || pixel->y < 0 || pixel->x > camera.width || pixel->y > camera.height)
      continue;
    point.track.push_back({static_cast<int>(v), static_cast<std::uint32_t>(view.observations.size())});
    view.observations.push_back({*pixel, point.id});
  }
  scene.points.push_back(point);
}

/// `count` views on a circle of radius 1 about the origin, `step` degrees apart, looking inwards.
inline Scene ring(int count, double step) {
  Scene scene = empty_scene();
  for (int i = 0; i < count; ++i) {
    const double angle = i * step * kPi / 180;
    add_view(scene, looking_at({std::sin(angle), 0, -std::cos(angle)}, {0, 0, 0}));
  }
  return scene;
}

/// Adds a grid of points in the cube of half side length `half` about the origin.
inline void add_cube(Scene& scene, double half, int n = 6) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        add_point(scene, {half * (2.0 * i / (n - 1) - 1), half * (2.0 * j / (n - 1) - 1),
                          half * (2.0 * k / (n - 1) - 1)});
}

}  // namespace recon::test

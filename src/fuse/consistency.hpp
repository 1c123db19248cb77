#pragma once

#include <cmath>
#include <optional>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// The depth map of a view with the data to compare it with others. Unknown is NaN.
struct DepthView {
  Pinhole camera;
  Pose cam_from_world;
  ImageView<const float> depth;       ///< z, scene units
  ImageView<const Vec3f> normal;      ///< unit, camera frame
  ImageView<const float> confidence;  ///< [0, 1]
};

/// Criteria for the agreement of another view with a depth: relative depth, not reprojection distance, as a
/// threshold in pixels would reject the widest and best baselines.
struct ConsistencyOptions {
  float max_relative_depth = 0.01f;  ///< |z_predicted / z_found - 1| in the other view
  float max_angle_degrees = 60.0f;   ///< angle between the two normals, if both are known
  int min_views = 1;                 ///< other views that must agree
};

/// Reprojection of a world point into another view: its pixel, its depth there and the depth in the map.
struct Reprojection {
  int x = 0, y = 0;
  double predicted = 0;  ///< z of the point in that view
  float found = 0;       ///< the map's depth at the pixel; NaN = unknown
};

/// Projects a point in the camera frame of `view` into it; empty if it is not visible.
inline std::optional<Reprojection> reproject_camera_point(const DepthView& view, Vec3d point) {
  if (!(point.z > 0)) return std::nullopt;
  const Vec2d pixel = view.camera.project(point);
  if (!(pixel.x >= 0 && pixel.y >= 0 && pixel.x < view.camera.width && pixel.y < view.camera.height))
    return std::nullopt;
  const int x = static_cast<int>(pixel.x), y = static_cast<int>(pixel.y);
  return Reprojection{x, y, point.z, view.depth(x, y)};
}

/// Reprojects `x_in_world` into `view`; empty if it is not visible.
inline std::optional<Reprojection> reproject(const DepthView& view, Vec3d x_in_world) {
  return reproject_camera_point(view, view.cam_from_world * x_in_world);
}

/// Whether the map's depth agrees with the point's depth within `max_relative_depth`.
inline bool depths_agree(const Reprojection& s, const ConsistencyOptions& options) {
  return std::abs(s.predicted - s.found) <= static_cast<double>(options.max_relative_depth) * s.found;
}

/// Whether the map has a surface behind the point: the view sees through the point.
inline bool seen_through(const Reprojection& s, const ConsistencyOptions& options) {
  return s.predicted < (1.0 - static_cast<double>(options.max_relative_depth)) * s.found;
}

/// The normal at pixel (x, y) of `view` in world coordinates; NaN stays NaN.
inline Vec3d normal_in_world(const DepthView& view, int x, int y) {
  const Vec3f n = view.normal(x, y);
  return transpose(view.cam_from_world.rotation) * Vec3d{n.x, n.y, n.z};
}

/// Whether the angle between two world normals is within the given cosine; an unknown normal agrees with all.
inline bool normals_agree(Vec3d a, Vec3d b, double min_cosine) {
  const double cosine = dot(a, b);
  return std::isnan(cosine) || cosine >= min_cosine;
}

inline double min_cosine(const ConsistencyOptions& options) {
  constexpr double kRadiansPerDegree = 0.017453292519943295;
  return std::cos(static_cast<double>(options.max_angle_degrees) * kRadiansPerDegree);
}

/// The world point of pixel (x, y) at depth z.
inline Vec3d point_in_world(const DepthView& view, int x, int y, double z) {
  return inverse(view.cam_from_world) * (z * view.camera.ray(pixel_centre(x, y)));
}

}  // namespace recon

#pragma once

#include "core/vec.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A plane as a camera sees it: its inverse depth is an affine function of the pixel coordinates.
struct SeenPlane {
  Vec3d normal{};     ///< in the camera's frame
  double offset = 0;  ///< dot(normal, x_in_cam); negative where the camera is on the side of the normal
  double by_x = 0, by_y = 0, at_0 = 0;

  SeenPlane(const WorldPlane& plane, const Pinhole& camera, const Pose& cam_from_world)
      : normal(cam_from_world.rotation * plane.normal),
        offset(plane.offset + dot(normal, cam_from_world.translation)),
        by_x(normal.x / (camera.fx * offset)),
        by_y(normal.y / (camera.fy * offset)),
        at_0(normal.z / offset - by_x * camera.cx - by_y * camera.cy) {}

  /// Whether the camera is clearly on the side from which the plane is seen.
  bool faces() const { return offset < 0; }
  /// 1 / z of the plane at a pixel; not positive where its ray does not meet the plane.
  double inverse_depth(Vec2d pixel) const { return by_x * pixel.x + by_y * pixel.y + at_0; }
};

/// The pixels of a source at which it sees those of a reference view that lie on a plane.
struct PlaneHomography {
  Mat3d h{};

  PlaneHomography(const SeenPlane& plane, const Pinhole& reference, const Pinhole& source,
                  const Pose& source_from_reference) {
    Mat3d motion = source_from_reference.rotation;
    const Vec3d t = source_from_reference.translation;
    const Vec3d n = (1 / plane.offset) * plane.normal;
    const double row[3] = {t.x, t.y, t.z}, column[3] = {n.x, n.y, n.z};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) motion(i, j) += row[i] * column[j];
    const Mat3d to_pixels{{source.fx, 0, source.cx, 0, source.fy, source.cy, 0, 0, 1}};
    const Mat3d to_rays{{1 / reference.fx, 0, -reference.cx / reference.fx, 0, 1 / reference.fy,
                         -reference.cy / reference.fy, 0, 0, 1}};
    h = to_pixels * motion * to_rays;
  }

  /// z is positive where the source has the point before it.
  Vec3d homogeneous(Vec2d pixel) const { return h * Vec3d{pixel.x, pixel.y, 1}; }
};

}  // namespace recon

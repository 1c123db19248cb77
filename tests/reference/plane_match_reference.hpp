#pragma once

#include <vector>

#include "core/image.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon::reference {

/// A photo and the camera that took it.
struct PlanePhoto {
  Pinhole camera;
  Pose cam_from_world;
  ImageView<const std::uint8_t> grey;
};

/// Where the ray of a pixel position meets the plane dot(normal, x) = offset, in the world.
Vec3d point_on_plane(Vec3d normal, double offset, const Pinhole& camera, const Pose& cam_from_world,
                     Vec2d pixel);

/// The mean ZNCC of the two best sources of the window of 9 x 9 pixels at (x, y), of which every second in a
/// row and a column counts: each sample is projected by itself, in double precision. NaN where fewer than two
/// sources have all samples at least `margin` pixels inside of the centres of their outermost pixels.
double plane_zncc(Vec3d normal, double offset, const PlanePhoto& reference,
                  const std::vector<PlanePhoto>& sources, int x, int y, double margin);

}  // namespace recon::reference

#pragma once

#include "render/scene_description.hpp"

namespace recon {

struct PlaneSceneOptions {
  int width = 160, height = 120;
  int views = 3;
  double focal = 160;         ///< pixels
  double distance = 2;        ///< distance of the plane along the axis of view 0, scene units
  double slant_degrees = 30;  ///< rotation of the plane about the vertical (y) axis of the views
  double baseline = 0.1;      ///< distance between neighbouring cameras, scene units
  double noise = 0;           ///< grey levels
};

/// A textured plane in front of a row of parallel pinhole cameras: world coordinates are the coordinates of
/// view 0; the other views alternate on its right and left at x = +b, -b, +2b, ... The plane contains (0, 0,
/// distance) and has the normal (sin(slant), 0, -cos(slant)), so that depth is z = distance + x tan(slant).
inline SceneDescription slanted_plane_scene(const PlaneSceneOptions& options) {
  SceneDescription description;
  description.cameras = {typical_camera(CameraModel::kPinhole, options.width, options.height, options.focal)};
  for (int i = 0; i < options.views; ++i) {
    const double x = options.baseline * ((i + 1) / 2) * (i % 2 == 1 ? 1 : -1);
    description.views.push_back({view_name_of(i, options.views), 0, {identity<double>(), {-x, 0, 0}}, 1});
  }
  const double half = 50 * options.distance;
  SceneObject plane;
  plane.shape = Quad{half, half};
  plane.world_from_object = {rotation_xyz({0, -options.slant_degrees, 0}), {0, 0, options.distance}};
  plane.texture.pattern = Pattern::kMarble;
  plane.texture.colour = {0.85, 0.7, 0.5};
  plane.texture.second_colour = {0.3, 0.4, 0.5};
  plane.texture.grain = 0.1 * options.distance;
  plane.texture.seed = 5;
  description.objects.push_back(plane);
  description.light = {{-options.distance, -2 * options.distance, -options.distance}, 0.6, false};
  description.noise = options.noise;
  return description;
}

}  // namespace recon

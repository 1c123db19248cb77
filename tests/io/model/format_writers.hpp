#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

/// 17 digits: the same double when it is read.
inline std::string digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// A transforms.json of a scene of perspective cameras without distortion that are all the same. The matrices
/// are from camera to world coordinates: their columns are right, up, backward and the centre of the camera.
inline std::string nerf_text(const Scene& scene, const std::string& folder) {
  const Camera& camera = scene.cameras.at(0);
  const std::vector<double>& p = camera.params;
  std::string text = "{\"camera_model\": \"OPENCV\", \"ply_file_path\": \"sparse_pc.ply\", \"w\": " +
                     std::to_string(camera.width) + ", \"h\": " + std::to_string(camera.height) +
                     ", \"fl_x\": " + digits(p[0]) + ", \"fl_y\": " + digits(p[1]) +
                     ", \"cx\": " + digits(p[2]) + ", \"cy\": " + digits(p[3]) +
                     ",\n \"k1\": 0, \"k2\": 0.0, \"p1\": 0, \"p2\": 0,\n \"frames\": [";
  for (std::size_t v = scene.views.size(); v-- > 0;) {  // the order of frames says nothing
    const auto& r = scene.views[v].cam_from_world.rotation;
    const Vec3d t = scene.views[v].cam_from_world.translation;
    text += "\n  {\"file_path\": \"" + folder + scene.views[v].name + "\", \"transform_matrix\": [";
    for (int i = 0; i < 3; ++i) {
      const double centre = -(r(0, i) * t.x + r(1, i) * t.y + r(2, i) * t.z);
      text += "[" + digits(r(0, i)) + ", " + digits(-r(1, i)) + ", " + digits(-r(2, i)) + ", " +
              digits(centre) + "], ";
    }
    text += std::string("[0, 0, 0, 1]]}") + (v > 0 ? "," : "");
  }
  return text + "]}\n";
}

/// The camera file of MVSNet of a view.
inline std::string mvsnet_text(const Scene& scene, std::size_t v) {
  const View& view = scene.views[v];
  const std::vector<double>& p = scene.cameras[static_cast<std::size_t>(view.camera)].params;
  const auto& r = view.cam_from_world.rotation;
  const Vec3d t = view.cam_from_world.translation;
  const double translation[3] = {t.x, t.y, t.z};
  std::string text = "extrinsic\n";
  for (int i = 0; i < 3; ++i)
    text += digits(r(i, 0)) + " " + digits(r(i, 1)) + " " + digits(r(i, 2)) + " " + digits(translation[i]) +
            " \n";
  return text + "0.0 0.0 0.0 1.0 \n\nintrinsic\n" + digits(p[0]) + " 0 " + digits(p[2]) + "\n0 " +
         digits(p[1]) + " " + digits(p[3]) + "\n0 0 1\n\n425.0 2.5 192 905.0\n";
}

}  // namespace recon

#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

/// COLMAP's models with their number of parameters according to its documentation.
struct ModelFact {
  CameraModel model;
  int id;
  std::string_view name;
  std::size_t parameters;
};
inline constexpr std::array<ModelFact, 11> kModelFacts{
    {{CameraModel::kSimplePinhole, 0, "SIMPLE_PINHOLE", 3},
     {CameraModel::kPinhole, 1, "PINHOLE", 4},
     {CameraModel::kSimpleRadial, 2, "SIMPLE_RADIAL", 4},
     {CameraModel::kRadial, 3, "RADIAL", 5},
     {CameraModel::kOpenCv, 4, "OPENCV", 8},
     {CameraModel::kOpenCvFisheye, 5, "OPENCV_FISHEYE", 8},
     {CameraModel::kFullOpenCv, 6, "FULL_OPENCV", 12},
     {CameraModel::kFov, 7, "FOV", 5},
     {CameraModel::kSimpleRadialFisheye, 8, "SIMPLE_RADIAL_FISHEYE", 4},
     {CameraModel::kRadialFisheye, 9, "RADIAL_FISHEYE", 5},
     {CameraModel::kThinPrismFisheye, 10, "THIN_PRISM_FISHEYE", 12}}};

/// A scene with one camera of each model, a view of each, and two points. Views are sorted by name, but not
/// by id.
inline Scene scene_of_all_models() {
  Scene scene;
  const double third = 1.0 / 3;
  for (const ModelFact& fact : kModelFacts) {
    const auto i = static_cast<int>(scene.cameras.size());
    Camera camera{fact.model, 640 + i, 480 + i, {}};
    for (std::size_t p = 0; p < fact.parameters; ++p)
      camera.params.push_back(p < 4 ? 500 + third * i : -1e-3 * third);
    scene.cameras.push_back(camera);
    scene.camera_ids.push_back(static_cast<std::uint32_t>(100 - i));
    View view;
    view.id = static_cast<std::uint32_t>(50 - 3 * i);
    view.name = std::string("sub folder/") + static_cast<char>('a' + i) + " photo.jpg";
    view.camera = i;
    // A rotation by 120 degrees about (1, 1, 1) keeps the values exact, one by 180 degrees has w = 0.
    if (i % 3 == 1) view.cam_from_world.rotation = {{0, 0, 1, 1, 0, 0, 0, 1, 0}};
    if (i % 3 == 2) view.cam_from_world.rotation = {{-1, 0, 0, 0, 1, 0, 0, 0, -1}};
    view.cam_from_world.translation = {0.1 * i, -third, 1e-17 * i};
    scene.views.push_back(view);
  }
  scene.views[2].observations = {{{1.5, 2.25}, 7}, {{third, 3e2}, kNoPoint}};
  scene.views[9].observations = {{{0.1, 0.2}, kNoPoint}, {{5, 6}, 1234567890123}, {{7, 8}, 7}};
  scene.points.push_back({1234567890123, {1e-9, third, -1e9}, {255, 0, 17}, -1, {{9, 1}}});
  scene.points.push_back({7, {1, 2, 3}, {1, 2, 3}, third, {{9, 2}, {2, 0}}});
  return scene;
}

}  // namespace recon

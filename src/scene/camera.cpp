#include "scene/camera.hpp"

#include <array>

#include "core/error.hpp"
#include "scene/lens.hpp"

namespace recon {
namespace {

struct ModelInfo {
  std::string_view name;
  int parameters;
};

// In ascending order of the ids.
constexpr std::array<ModelInfo, 11> kModels{{{"SIMPLE_PINHOLE", 3},
                                             {"PINHOLE", 4},
                                             {"SIMPLE_RADIAL", 4},
                                             {"RADIAL", 5},
                                             {"OPENCV", 8},
                                             {"OPENCV_FISHEYE", 8},
                                             {"FULL_OPENCV", 12},
                                             {"FOV", 5},
                                             {"SIMPLE_RADIAL_FISHEYE", 4},
                                             {"RADIAL_FISHEYE", 5},
                                             {"THIN_PRISM_FISHEYE", 12}}};

const ModelInfo& info(CameraModel model) {
  const auto id = static_cast<std::size_t>(model);
  EXPECTS(id < kModels.size());
  return kModels[id];
}

}  // namespace

std::string_view model_name(CameraModel model) {
  return info(model).name;
}

int parameter_count(CameraModel model) {
  return info(model).parameters;
}

std::optional<CameraModel> model_from_id(int id) {
  if (id < 0 || id >= static_cast<int>(kModels.size())) return std::nullopt;
  return static_cast<CameraModel>(id);
}

std::optional<CameraModel> model_from_name(std::string_view name) {
  for (std::size_t id = 0; id < kModels.size(); ++id)
    if (kModels[id].name == name) return static_cast<CameraModel>(id);
  return std::nullopt;
}

std::optional<Vec2d> project(const Camera& camera, Vec3d x_in_cam) {
  return Lens(camera).project(x_in_cam);
}

std::optional<Vec3d> unproject(const Camera& camera, Vec2d pixel) {
  return Lens(camera).unproject(pixel);
}

std::optional<Pinhole> as_pinhole(const Camera& camera) {
  if (camera.model != CameraModel::kSimplePinhole && camera.model != CameraModel::kPinhole)
    return std::nullopt;
  const Lens lens(camera);
  const auto [fx, fy] = lens.focal();
  const auto [cx, cy] = lens.principal_point();
  return Pinhole{camera.width, camera.height, fx, fy, cx, cy};
}

Camera to_camera(const Pinhole& pinhole) {
  return {
      CameraModel::kPinhole, pinhole.width, pinhole.height, {pinhole.fx, pinhole.fy, pinhole.cx, pinhole.cy}};
}

}  // namespace recon

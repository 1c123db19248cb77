#include "scene/camera.hpp"

#include "core/error.hpp"

namespace recon {
namespace {

struct ModelInfo {
  std::string_view name;
  int parameters;
  bool one_focal = false;  ///< fx = fy
  bool fisheye = false;
  bool panorama = false;
};

// In ascending order of the ids.
constexpr std::array<ModelInfo, 18> kModels{{{"SIMPLE_PINHOLE", 3, true},
                                             {"PINHOLE", 4},
                                             {"SIMPLE_RADIAL", 4, true},
                                             {"RADIAL", 5, true},
                                             {"OPENCV", 8},
                                             {"OPENCV_FISHEYE", 8, false, true},
                                             {"FULL_OPENCV", 12},
                                             {"FOV", 5},
                                             {"SIMPLE_RADIAL_FISHEYE", 4, true, true},
                                             {"RADIAL_FISHEYE", 5, true, true},
                                             {"THIN_PRISM_FISHEYE", 12, false, true},
                                             {"RAD_TAN_THIN_PRISM_FISHEYE", 16, false, true},
                                             {"SIMPLE_DIVISION", 4, true},
                                             {"DIVISION", 5},
                                             {"SIMPLE_FISHEYE", 3, true, true},
                                             {"FISHEYE", 4, false, true},
                                             {"EUCM", 6},
                                             {"EQUIRECTANGULAR", 2, false, false, true}}};

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

int focal_length_count(CameraModel model) {
  return info(model).panorama ? 0 : info(model).one_focal ? 1 : 2;
}

bool is_fisheye(CameraModel model) {
  return info(model).fisheye;
}

bool is_panorama(CameraModel model) {
  return info(model).panorama;
}

bool is_perspective(CameraModel model) {
  switch (model) {
    case CameraModel::kSimplePinhole:
    case CameraModel::kPinhole:
    case CameraModel::kSimpleRadial:
    case CameraModel::kRadial:
    case CameraModel::kOpenCv:
    case CameraModel::kFullOpenCv:
      return true;
    default:
      return false;
  }
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

std::optional<Pinhole> as_pinhole(const Camera& camera) {
  if (camera.model != CameraModel::kSimplePinhole && camera.model != CameraModel::kPinhole)
    return std::nullopt;
  const Lens lens(camera);
  const auto [fx, fy] = lens.focal();
  const auto [cx, cy] = lens.principal_point();
  return Pinhole{camera.width, camera.height, fx, fy, cx, cy};
}

Camera scaled_camera(const Camera& camera, int width, int height) {
  Camera scaled = camera;
  scaled.width = width, scaled.height = height;
  const double x = static_cast<double>(width) / camera.width, y = static_cast<double>(height) / camera.height;
  std::vector<double>& q = scaled.params;
  if (info(camera.model).panorama) {
    q[0] *= x, q[1] *= y;
  } else if (info(camera.model).one_focal) {
    q[0] *= (x + y) / 2;
    q[1] *= x, q[2] *= y;
  } else {
    q[0] *= x, q[1] *= y;
    q[2] *= x, q[3] *= y;
  }
  return scaled;
}

Camera to_camera(const Pinhole& pinhole) {
  return {
      CameraModel::kPinhole, pinhole.width, pinhole.height, {pinhole.fx, pinhole.fy, pinhole.cx, pinhole.cy}};
}

}  // namespace recon

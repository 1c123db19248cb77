#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// The camera models of COLMAP; the values are the ids of its binary format.
enum class CameraModel {
  kSimplePinhole = 0,
  kPinhole = 1,
  kSimpleRadial = 2,
  kRadial = 3,
  kOpenCv = 4,
  kOpenCvFisheye = 5,
  kFullOpenCv = 6,
  kFov = 7,
  kSimpleRadialFisheye = 8,
  kRadialFisheye = 9,
  kThinPrismFisheye = 10,
};

/// A COLMAP camera: model, image size in pixels and the parameters in COLMAP's order.
struct Camera {
  CameraModel model = CameraModel::kPinhole;
  int width = 0;
  int height = 0;
  std::vector<double> params;
};

/// COLMAP's name of a model, such as "OPENCV_FISHEYE".
std::string_view model_name(CameraModel model);

/// The model with a given name, or with a given id of COLMAP's binary format; empty if COLMAP 3.8 has no such
/// model.
std::optional<CameraModel> model_from_name(std::string_view name);
std::optional<CameraModel> model_from_id(int id);

/// Number of parameters of a model.
int parameter_count(CameraModel model);

/// Projects a point in camera coordinates to pixel coordinates; empty where it has no image (behind a
/// perspective camera, or beyond the angle up to which the distortion is monotonic). For many points of one
/// camera use a Lens (scene/lens.hpp), which is set up once instead of at every call.
std::optional<Vec2d> project(const Camera& camera, Vec3d x_in_cam);

/// The unit direction in camera coordinates that `project` maps to `pixel`; empty if none.
/// |project(unproject(p)) - p| < 1e-6 pixels.
std::optional<Vec3d> unproject(const Camera& camera, Vec2d pixel);

/// The pinhole camera if the model is SIMPLE_PINHOLE or PINHOLE; empty otherwise.
std::optional<Pinhole> as_pinhole(const Camera& camera);

/// The COLMAP camera of a pinhole.
Camera to_camera(const Pinhole& pinhole);

}  // namespace recon

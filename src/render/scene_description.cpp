#include "render/scene_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/hypotenuse.hpp"
#include "core/plain_number.hpp"

namespace recon {
namespace {

constexpr int kMaxSide = 65536;

void require(bool condition, const std::string& field, double value, const std::string& rule) {
  if (!condition) throw InputError(fmt::format("{} is {}; it must be {}", field, plain(value, 6), rule));
}

void require_positive(const std::string& field, double value) {
  require(value > 0 && std::isfinite(value), field, value, "positive");
}

void require_not_negative(const std::string& field, double value) {
  require(value >= 0 && std::isfinite(value), field, value, "zero or positive");
}

/// @param s  a shape
template <class T>
void check_shape(const T& s, const std::string& field) {
  if constexpr (requires { s.half_size; }) {
    require_positive(field + ".half_size[0]", s.half_size.x);
    require_positive(field + ".half_size[1]", s.half_size.y);
    require_positive(field + ".half_size[2]", s.half_size.z);
  }
  if constexpr (requires { s.half_width; }) require_positive(field + ".half_width", s.half_width);
  if constexpr (requires { s.radius; }) require_positive(field + ".radius", s.radius);
  if constexpr (requires { s.half_height; }) require_positive(field + ".half_height", s.half_height);
  if constexpr (requires { s.waves; }) {
    require(!s.waves.empty(), field + ".waves: their number", 0, "at least 1; a flat surface is a quad");
    for (const Wave& wave : s.waves) {
      require_positive(field + ".waves: amplitude", wave.amplitude);
      require_positive(field + ".waves: frequency", hypotenuse(wave.vector.x, wave.vector.y));
    }
  }
}

void check_texture(const SurfaceTexture& texture, const std::string& field) {
  require_positive(field + ".size", texture.size);
  require_positive(field + ".grain", texture.grain);
  require_positive(field + ".persistence", texture.persistence);
  require_not_negative(field + ".contrast", texture.contrast);
  require(texture.octaves >= 1 && texture.octaves <= 20, field + ".octaves", texture.octaves, "1 to 20");
}

void check_pose(const Pose& pose, const std::string& field) {
  for (const double number : {pose.translation.x, pose.translation.y, pose.translation.z})
    require(std::isfinite(number), field + ".position", number, "finite");
  for (const double number : pose.rotation.m)
    require(std::isfinite(number), field + ": its rotation", number, "finite");
}

void check_camera(const Camera& camera, const std::string& field) {
  require(camera.width >= 1 && camera.width <= kMaxSide, field + ".width", camera.width, "1 to 65536");
  require(camera.height >= 1 && camera.height <= kMaxSide, field + ".height", camera.height, "1 to 65536");
  require(static_cast<int>(camera.params.size()) == parameter_count(camera.model),
          field + ".params: their number", static_cast<double>(camera.params.size()),
          std::to_string(parameter_count(camera.model)) + " for " + std::string(model_name(camera.model)));
  require_positive(field + ": the focal length", Lens(camera).focal().x);
  require_positive(field + ": the focal length", Lens(camera).focal().y);
}

}  // namespace

void validate(const SceneDescription& description) {
  for (std::size_t i = 0; i < description.cameras.size(); ++i)
    check_camera(description.cameras[i], "cameras[" + std::to_string(i) + "]");
  for (std::size_t i = 0; i < description.views.size(); ++i) {
    const RenderView& view = description.views[i];
    const std::string field = "views[" + std::to_string(i) + "]";
    require(view.camera >= 0 && view.camera < static_cast<int>(description.cameras.size()), field + ".camera",
            view.camera, "the index of a camera");
    require_positive(field + ".gain", view.gain);
    if (i > 0 && !(description.views[i - 1].name < view.name))
      throw InputError(field + ".name is '" + view.name + "'; names must be unique and in rising order");
  }
  for (std::size_t i = 0; i < description.objects.size(); ++i) {
    const std::string field = "objects[" + std::to_string(i) + "]";
    std::visit([&](const auto& shape) { check_shape(shape, field); }, description.objects[i].shape);
    check_texture(description.objects[i].texture, field + ".texture");
    check_pose(description.objects[i].world_from_object, field);
  }
  require(description.light.ambient >= 0 && description.light.ambient <= 1, "light.ambient",
          description.light.ambient, "0 to 1");
  require_not_negative("noise", description.noise);
  require(description.samples >= 1 && description.samples <= 32, "samples", description.samples, "1 to 32");
  require_not_negative("sparse.points", description.sparse.points);
  require_not_negative("sparse.noise", description.sparse.noise);
  require(description.sparse.min_views >= 2, "sparse.min_views", description.sparse.min_views, "2 or more");
}

Pose look_at(Vec3d eye, Vec3d target, Vec3d up) {
  const Vec3d forward = normalized(target - eye), right = normalized(cross(forward, up));
  if (!(norm(forward) > 0.5)) throw InputError("a view looks at the place where it stands; move its target");
  if (!(norm(right) > 0.5)) throw InputError("a view looks along its up direction; give it another one");
  const Vec3d down = cross(forward, right);
  const Mat3d rotation{{right.x, right.y, right.z, down.x, down.y, down.z, forward.x, forward.y, forward.z}};
  return {rotation, -(rotation * eye)};
}

Mat3d rotation_xyz(Vec3d degrees) {
  const double cx = std::cos(degrees.x * kRadians), sx = std::sin(degrees.x * kRadians);
  const double cy = std::cos(degrees.y * kRadians), sy = std::sin(degrees.y * kRadians);
  const double cz = std::cos(degrees.z * kRadians), sz = std::sin(degrees.z * kRadians);
  const Mat3d about_x{{1, 0, 0, 0, cx, -sx, 0, sx, cx}};
  const Mat3d about_y{{cy, 0, sy, 0, 1, 0, -sy, 0, cy}};
  const Mat3d about_z{{cz, -sz, 0, sz, cz, 0, 0, 0, 1}};
  return about_z * about_y * about_x;
}

Camera typical_camera(CameraModel model, int width, int height, double focal) {
  // SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV, OPENCV_FISHEYE, FULL_OPENCV, FOV,
  // SIMPLE_RADIAL_FISHEYE, RADIAL_FISHEYE, THIN_PRISM_FISHEYE, RAD_TAN_THIN_PRISM_FISHEYE, SIMPLE_DIVISION,
  // DIVISION, SIMPLE_FISHEYE, FISHEYE, EUCM.
  static const std::array<std::vector<double>, 17> kDistortions{
      {{},
       {},
       {-0.08},
       {-0.1, 0.03},
       {-0.1, 0.03, 0.001, -0.0015},
       {0.03, -0.01, 0.003, -0.001},
       {-0.08, 0.03, 0.001, -0.0008, 0.004, 0.02, 0.01, 0.002},
       {0.6},
       {0.03},
       {0.03, -0.01},
       {0.03, -0.01, 0.001, -0.0008, 0.003, -0.001, 0.0008, -0.0006},
       {0.03, -0.01, 0.003, -0.001, 0, 0, 0.001, -0.0008, 0.0008, -0.0002, -0.0006, 0.0001},
       {-0.08},
       {-0.08},
       {},
       {},
       {0.6, 1.1}}};
  if (is_panorama(model))
    return {model, width, height, {static_cast<double>(width), static_cast<double>(height)}};
  Camera camera{model, width, height, std::vector<double>(focal_length_count(model), focal)};
  camera.params.insert(camera.params.end(), {0.5 * width, 0.5 * height});
  const std::vector<double>& distortion = kDistortions[static_cast<std::size_t>(model)];
  camera.params.insert(camera.params.end(), distortion.begin(), distortion.end());
  return camera;
}

Camera resized(const Camera& camera, int width, int height) {
  EXPECTS(camera.width > 0 && camera.height > 0 && width > 0 && height > 0);
  const double sx = static_cast<double>(width) / camera.width;
  const double sy = static_cast<double>(height) / camera.height;
  if (is_panorama(camera.model)) return scaled_camera(camera, width, height);
  Camera result = camera;
  result.width = width;
  result.height = height;
  const int focal_lengths = focal_length_count(camera.model);
  result.params[0] *= sx;
  if (focal_lengths == 2) result.params[1] *= sy;
  result.params[focal_lengths] *= sx;
  result.params[focal_lengths + 1] *= sy;
  return result;
}

std::string view_name_of(int index, int count, const std::string& ending) {
  const std::string number = std::to_string(index);
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(count - 1).size());
  return "view" + std::string(digits - std::min(digits, number.size()), '0') + number + ending;
}

}  // namespace recon

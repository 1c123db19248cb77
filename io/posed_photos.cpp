#include "io/posed_photos.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/text_scanner.hpp"

namespace recon {

Pose rigid_pose(std::span<const double, 16> matrix, const FilePlace& place) {
  constexpr double kTolerance = 1e-3;  // three digits behind the point
  if (matrix[12] != 0 || matrix[13] != 0 || matrix[14] != 0 || matrix[15] != 1)
    place.fail("the last row of the matrix is {} {} {} {}; it has to be 0 0 0 1", decimal(matrix[12]),
               decimal(matrix[13]), decimal(matrix[14]), decimal(matrix[15]));
  const Mat3d r{
      {matrix[0], matrix[1], matrix[2], matrix[4], matrix[5], matrix[6], matrix[8], matrix[9], matrix[10]}};
  const Mat3d product = r * transpose(r), one = identity<double>();
  double difference = 0;
  for (int i = 0; i < 9; ++i) difference = std::max(difference, std::abs(product.m[i] - one.m[i]));
  if (!(difference <= kTolerance))
    place.fail(
        "the upper left 3x3 matrix R is no rotation: R R^T differs from the identity by {}; write the pose "
        "without scale and shear",
        decimal(difference));
  const Vec3d x{r(0, 0), r(0, 1), r(0, 2)}, y{r(1, 0), r(1, 1), r(1, 2)}, z{r(2, 0), r(2, 1), r(2, 2)};
  if (dot(cross(x, y), z) < 0)
    place.fail("the upper left 3x3 matrix is a mirror, its determinant is -1; write the pose as a rotation");
  return {rotation_of(quaternion_of(r)), {matrix[3], matrix[7], matrix[11]}};
}

std::optional<ImageSize> PosedPhotos::size_of(const std::string& name) {
  try {
    return image_size(folder_ / name);
  } catch (const InputError& error) {
    leave_out(name, error.what());
    return std::nullopt;
  }
}

void PosedPhotos::leave_out(const std::string& name, const std::string& reason) {
  left_out_.emplace(normalised_name(name), reason);
}

void PosedPhotos::add(const std::string& name, Camera camera, const Pose& cam_from_world,
                      const FilePlace& place) {
  const auto id = static_cast<std::uint32_t>(camera_ids_.size() + 1);
  const auto [known, added] =
      camera_ids_.emplace(CameraKey{camera.model, camera.width, camera.height, camera.params}, id);
  if (added) builder_.add_camera(id, std::move(camera), place);
  View view;
  view.id = ++views_;
  view.name = name;
  view.cam_from_world.translation = cam_from_world.translation;
  builder_.add_view(std::move(view), known->second, quaternion_of(cam_from_world.rotation), place);
}

Scene PosedPhotos::finish(const std::string& file) {
  if (views_ == 0)
    throw InputError(left_out_.empty()
                         ? file + ": there is no photo in it; a scene needs at least two"
                         : file + ": none of its photos can be used: " + left_out_.begin()->second);
  Scene scene = builder_.finish(file);
  for (const auto& [name, reason] : left_out_) scene.unusable.push_back({name, reason});
  return scene;
}

}  // namespace recon

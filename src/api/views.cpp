#include "api/views.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/convert.hpp"
#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"

namespace reconstruct::detail {

namespace {

void check_camera(const Camera& camera, const std::string& name) {
  const bool finite = std::isfinite(camera.fx + camera.fy + camera.cx + camera.cy);
  if (finite && camera.fx > 0 && camera.fy > 0) return;
  throw UsageError(name + " has the focal lengths " + recon::plain(camera.fx) + ", " +
                   recon::plain(camera.fy) + " and the principal point " + recon::plain(camera.cx) + ", " +
                   recon::plain(camera.cy) + "; they must be finite, and focal lengths above 0");
}

/// @throws UsageError for a rotation that is none to within 1e-4
recon::Pose pose_of(const Pose& pose, const std::string& name) {
  recon::Pose result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) result.rotation(i, j) = pose.rotation[i][j];
  result.translation = {pose.translation[0], pose.translation[1], pose.translation[2]};
  const recon::Mat3d& r = result.rotation;
  const recon::Mat3d product = r * transpose(r);
  double error = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) error = std::max(error, std::abs(product(i, j) - (i == j ? 1 : 0)));
  const auto row = [&](int i) { return recon::Vec3d{r(i, 0), r(i, 1), r(i, 2)}; };
  const bool right_handed = dot(cross(row(0), row(1)), row(2)) > 0;
  const recon::Vec3d t = result.translation;
  if (!(error < 1e-4) || !right_handed || !std::isfinite(t.x + t.y + t.z))
    throw UsageError(name + " has a pose whose rotation is not orthonormal and right-handed, or whose " +
                     "translation is not finite; it is x_in_cam = R x_in_world + t");
  return result;
}

}  // namespace

void add_view(const Camera& camera, const Pose& cam_from_world, int width, int height,
              const std::string& name, recon::Scene& scene) {
  check_camera(camera, name);
  recon::View view;
  view.id = static_cast<std::uint32_t>(scene.views.size() + 1);
  view.name = name;
  view.camera = static_cast<int>(scene.cameras.size());
  view.cam_from_world = pose_of(cam_from_world, name);
  scene.camera_ids.push_back(view.id);
  scene.cameras.push_back(recon::to_camera({width, height, camera.fx, camera.fy, camera.cx, camera.cy}));
  scene.views.push_back(std::move(view));
}

recon::Image<std::uint8_t> mask_of(const ImageView& mask, int width, int height, const std::string& name) {
  if (mask.data == nullptr) return {};
  check_image(mask, "the mask of " + name);
  if (mask.type != PixelType::kGrey8 || mask.width != width || mask.height != height)
    throw UsageError("the mask of " + name + " has " + recon::size_text(mask.width, mask.height) +
                     " pixels; it must have one byte for each of " + recon::size_text(width, height));
  return stored_grey(mask).of_8_bits;
}

}  // namespace reconstruct::detail

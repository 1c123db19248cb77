#include "session/products/prior_maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "io/map/given_map.hpp"
#include "refine/prior_fit.hpp"
#include "scene/undistort.hpp"

namespace recon {

namespace {

/// Whether a map is known to be of an undistorted image: of a dense workspace, or from --export-priors.
bool is_of_undistorted(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return std::ranges::any_of(std::array{".geometric.bin", ".photometric.bin", ".depth.npy"},
                             [&](const char* ending) { return name.ends_with(ending); });
}

/// Whether a map is of the photo of a view, and not of its undistorted image.
/// @throws InputError where it is of neither
bool is_of_photo(const ScenePlan& plan, int view, const std::filesystem::path& file, ImageSize map) {
  const Pinhole& camera = plan.view(view).camera;
  const Camera& photo = plan.photo_camera(view);
  const bool undistorted = is_of_undistorted(file);
  if (!undistorted && same_shape_of_image(map.width, map.height, photo.width, photo.height)) return true;
  if (same_shape_of_image(map.width, map.height, camera.width, camera.height)) return false;
  throw InputError(fmt::format(
      "{}: the map has {}x{} pixels, but {} of {} has {}x{}; give a map of all of it, in any resolution "
      "above a sixteenth",
      file.string(), map.width, map.height, undistorted ? "the undistorted image" : "the photo",
      plan.name(view), undistorted ? camera.width : photo.width, undistorted ? camera.height : photo.height));
}

/// @throws InputError where the confidences of a prior are of an image of another shape
void check_confidence(const std::filesystem::path& file, ImageSize map, ImageSize prior) {
  if (same_shape_of_image(map.width, map.height, prior.width, prior.height)) return;
  throw InputError(
      fmt::format("{}: the confidences have {}x{} pixels and their depth map {}x{}; give those of "
                  "all of it, in any resolution above a sixteenth",
                  file.string(), map.width, map.height, prior.width, prior.height));
}

/// Values that follow the inverse of the depth, or of the distance; NaN where there is none.
void invert(PriorKind kind, Image<float>& values) {
  if (kind == PriorKind::kInverse) return;
  for (int y = 0; y < values.height(); ++y)
    for (int x = 0; x < values.width(); ++x) values(x, y) = values(x, y) > 0 ? 1.0f / values(x, y) : kUnknown;
}

/// From the inverse of distances to that of z.
void project(const Pinhole& camera, Image<float>& values) {
  parallel_for(values.height(), [&](int y) {
    for (int x = 0; x < values.width(); ++x)
      values(x, y) *= static_cast<float>(norm(camera.ray(pixel_centre(x, y))));
  });
}

/// Leaves out values that are not sure enough.
void drop_unsure(const Image<float>& confidence, Image<float>& values) {
  const Image<float> of_values = resized_to_nearest(confidence.clone(), values.width(), values.height());
  for (int y = 0; y < values.height(); ++y)
    for (int x = 0; x < values.width(); ++x)
      if (!(of_values(x, y) >= PriorFit::kMinConfidence)) values(x, y) = kUnknown;
}

}  // namespace

Prior prior_in_image(Prior given, PriorKind kind, const PriorPhoto& photo, const Pinhole& camera) {
  const auto in_image = [&](const Image<float>& map) {
    return undistort_values(map.view(), photo.camera, camera, photo.face_from_photo);
  };
  Prior result;
  if (!given.confidence.empty()) {
    drop_unsure(given.confidence, given.values);
    result.confidence = in_image(given.confidence);
  }
  invert(kind, given.values);
  result.values = in_image(given.values);
  // The parts of a wide photo share distances, and no depths.
  if (kind == PriorKind::kDistance || photo.face_from_photo != nullptr) project(camera, result.values);
  return result;
}

void PriorMaps::find(const std::filesystem::path& folder, const std::vector<View>& views,
                     std::size_t max_bytes) {
  MapFolder::find({.option = "--prior-maps", .of_priors = true}, folder, views, max_bytes);
}

std::string PriorMaps::fault(const ScenePlan& plan, int view) const {
  try {
    const auto& [file, confidence, fault] = readable(plan.name(view));
    const ImageSize size = given_depth_size(file);
    is_of_photo(plan, view, file, size);
    if (!confidence.empty()) check_confidence(confidence, given_map_size(confidence), size);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

Prior PriorMaps::read(const ScenePlan& plan, int view, const Pinhole& camera, PriorKind kind) const {
  const auto& [file, confidence, fault] = readable(plan.name(view));
  Prior given{read_given_values(file), {}};
  const ImageSize size{given.values.width(), given.values.height()};
  if (!confidence.empty()) {
    given.confidence = read_prior_confidence(confidence);
    check_confidence(confidence, {given.confidence.width(), given.confidence.height()}, size);
  }
  const auto& face = plan.scene_view(view).face;
  if (is_of_photo(plan, view, file, size))
    return prior_in_image(std::move(given), kind,
                          {plan.photo_camera(view), face ? &face->face_from_photo : nullptr}, camera);
  return prior_in_image(std::move(given), kind, {to_camera(plan.view(view).camera)}, camera);
}

std::string unused_prior_text(const std::string& view, const std::string& fault) {
  return fmt::format("{}: its prior is not used: {}", view, fault);
}

}  // namespace recon

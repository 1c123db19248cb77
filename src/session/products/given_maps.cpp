#include "session/products/given_maps.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "io/map/given_map.hpp"
#include "scene/undistort.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// @throws InputError for a map of an image of another shape than the view's undistorted one
void check_given_size(const ScenePlan& plan, int view, const fs::path& file, ImageSize map) {
  const Pinhole& camera = plan.view(view).camera;
  const Camera& photo = plan.photo_camera(view);
  const auto is_of = [&](int width, int height) { return map == ImageSize{width, height}; };
  const bool own_size = is_of(camera.width, camera.height);
  bool fits = own_size || same_shape_of_image(map.width, map.height, camera.width, camera.height);
  // A photo with a distortion and its undistorted image have nearly the same shape.
  if (fits && !own_size && !plan.view(view).unchanged && is_of(photo.width, photo.height) &&
      !plan.scene_view(view).face) {
    const Pinhole whole = undistorted_camera(photo, 0);
    fits = is_of(whole.width, whole.height);
  }
  if (fits) return;
  throw InputError(
      fmt::format("{}: the map has {}x{} pixels, but the undistorted image of {} has {}x{}{}; give a map of "
                  "the undistorted image, as dense/images has it, in any resolution",
                  file.string(), map.width, map.height, plan.name(view), camera.width, camera.height,
                  is_of(photo.width, photo.height) ? ", the map is of the photo itself" : ""));
}

}  // namespace

void GivenMaps::find(const fs::path& folder, const std::vector<View>& views, std::optional<double> unit,
                     std::size_t max_bytes) {
  unit_ = unit;
  const auto check = [&](const fs::path& depth) {
    // A map that cannot be read fails its view.
    if (!unit && if_readable([&] { return has_whole_numbers(depth); }, false))
      throw UsageError("--depth-unit is needed: " + depth.string() +
                       " holds whole numbers; say how many scene units one of them is, such as 0.001 for "
                       "millimetres in a scene of metres");
  };
  MapFolder::find({.option = "--depth-maps", .check = check}, folder, views, max_bytes);
}

std::string GivenMaps::fault(const ScenePlan& plan, int view) const {
  try {
    const auto& [depth, confidence, fault] = readable(plan.name(view));
    check_given_size(plan, view, depth, given_depth_size(depth));
    if (!confidence.empty()) check_given_size(plan, view, confidence, given_map_size(confidence));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

ImageSize GivenMaps::depth_size(const std::string& view) const {
  return given_depth_size(of(view).depth);
}

Image<float> GivenMaps::read_depth(const ScenePlan& plan, int view) const {
  const fs::path& file = readable(plan.name(view)).depth;
  Image<float> depth = read_given_depth(file, unit_);
  check_given_size(plan, view, file, {depth.width(), depth.height()});
  return depth;
}

ViewDepth GivenMaps::read(const ScenePlan& plan, int view) const {
  const fs::path& confidence = readable(plan.name(view)).confidence;
  const Pinhole& camera = plan.view(view).camera;
  const auto fitted = [&](Image<float> map) {
    return resized_to_nearest(std::move(map), camera.width, camera.height);
  };
  ViewDepth maps;
  maps.depth = fitted(read_depth(plan, view));
  if (confidence.empty()) {
    maps.confidence = Image<float>(camera.width, camera.height, 1.0f);
  } else {
    Image<float> values = read_given_confidence(confidence);
    check_given_size(plan, view, confidence, {values.width(), values.height()});
    maps.confidence = fitted(std::move(values));
  }
  return maps;
}

}  // namespace recon

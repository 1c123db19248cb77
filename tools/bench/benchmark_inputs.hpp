#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "match/posed_image.hpp"
#include "reference/colour_sets.hpp"

namespace recon {

/// @throws InputError when the folder is none of a pair
inline ColourSet read_benchmark_set(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "info.json"))
    throw InputError(folder.string() + " has no info.json; give folders of pairs with ground truth");
  return read_colour_set(folder);
}

/// The views of a scene and their grey pixels.
struct PosedViews {
  std::vector<View> views;
  std::vector<Image<std::uint8_t>> pixels;
  std::vector<PosedImage> images;
};

/// @throws InputError when the scene has fewer than two views, or images with distortion
inline PosedViews read_posed_views(const std::filesystem::path& folder) {
  const Scene scene = read_colmap_model(find_model(folder));
  if (scene.views.size() < 2) throw InputError(folder.string() + ": needs two views at least");
  PosedViews result{scene.views, {}, {}};
  for (const View& view : scene.views) {
    const std::optional<Pinhole> camera = as_pinhole(scene.cameras[view.camera]);
    if (!camera) throw InputError(folder.string() + ": the benchmark takes undistorted images");
    result.pixels.push_back(read_grey_image(folder / "images" / view.name));
    PosedImage& image = result.images.emplace_back();
    image.camera = *camera;
    image.cam_from_world = view.cam_from_world;
    image.channel[0] = result.pixels.back().view();
  }
  return result;
}

}  // namespace recon

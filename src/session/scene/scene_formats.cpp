#include "session/scene/scene_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/mvsnet_model.hpp"
#include "io/model/nerf_model.hpp"
#include "session/products/photo_files.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

/// Says which of several models is read.
std::vector<std::string> warnings_of(const std::vector<ModelFolder>& models) {
  if (models.size() < 2) return {};
  std::string others;
  for (std::size_t i = 1; i < models.size(); ++i)
    others +=
        fmt::format("{}{} with {}", i > 1 ? ", " : "", models[i].path.filename().string(), models[i].images);
  return {
      fmt::format("{} has {} images and is read; the other models of parts of the scene are not: {}; to use "
                  "one, give it alone in a folder sparse/ of a scene of its own",
                  models.front().path.string(), models.front().images, others)};
}

/// sparse/, or the largest model of sparse/N.
bool find_colmap(SceneFolder& scene) {
  const std::vector<ModelFolder> models = find_model_folders(scene.root);
  if (!is_folder(scene.images) || models.empty()) return false;
  scene.model = models.front().path;
  scene.warnings = warnings_of(models);
  return true;
}

/// transforms.json or transforms_train.json, of nerfstudio or NeRF.
bool find_nerf(SceneFolder& scene) {
  for (const char* file : {"transforms.json", "transforms_train.json"}) {
    if (!is_there_to_read(scene.root / file)) continue;
    if (!scene.images_given) scene.images = scene.root;
    scene.model = scene.root / file;
    return true;
  }
  return false;
}

/// cams/NAME_cam.txt, whose photos BlendedMVS has in blended_images/.
bool find_mvsnet(SceneFolder& scene) {
  scene.model = scene.root / "cams";
  if (!scene.images_given && !is_folder(scene.images)) scene.images = scene.root / "blended_images";
  return is_folder(scene.images) && !mvsnet_camera_files(scene.model).empty();
}

/// Whether models may lie below: no result of this program, and no link, which may lead in circles.
bool is_folder_to_search(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error)) && !is_output(path);
}

// COLMAP comes first: the other formats have no points.
constexpr SceneImporter kImporters[] = {
    {SceneFormat::kColmap, find_colmap,
     [](const SceneFolder& scene, std::size_t limit) { check_colmap_model(scene.model, limit); },
     [](const SceneFolder& scene, std::size_t limit) { return read_colmap_model(scene.model, limit); }},
    {SceneFormat::kNerf, find_nerf,
     [](const SceneFolder& scene, std::size_t) { const InputDescriptor opened(scene.model); },
     [](const SceneFolder& scene, std::size_t limit) {
       return read_nerf_model(scene.model, limit, scene.images_given ? scene.images : fs::path());
     }},
    {SceneFormat::kMvsnet, find_mvsnet,
     [](const SceneFolder& scene, std::size_t) {
       for (const fs::path& file : mvsnet_camera_files(scene.model)) const InputDescriptor opened(file);
     },
     [](const SceneFolder& scene, std::size_t limit) {
       return read_mvsnet_model(scene.model, scene.images, limit);
     }},
};

}  // namespace

std::span<const SceneImporter> scene_importers() {
  return kImporters;
}

const SceneImporter& importer_of(const SceneFolder& scene) {
  return *std::ranges::find(kImporters, scene.format, &SceneImporter::format);
}

bool find_model_below(SceneFolder& scene) {
  constexpr int kMaxDepth = 3;
  if (!scene.images_given || !is_folder(scene.images)) return false;
  std::vector<fs::path> level = {scene.root};
  for (int depth = 0; depth <= kMaxDepth && !level.empty(); ++depth) {
    std::vector<fs::path> models, next;
    std::ranges::sort(level);
    std::ranges::copy_if(level, std::back_inserter(models), has_colmap_model);
    if (!models.empty()) {
      const std::vector<ModelFolder> folders = largest_first(models);
      scene.format = SceneFormat::kColmap;
      scene.model = folders.front().path;
      scene.warnings = warnings_of(folders);
      return true;
    }
    for (const fs::path& folder : level)
      for_each_in_folder(folder, [&](const fs::path& path) {
        if (!path.filename().string().starts_with('.') && is_folder_to_search(path)) next.push_back(path);
      });
    level = std::move(next);
  }
  return false;
}

std::string what_is_missing_of_a_scene(const fs::path& root, bool images_given) {
  if (images_given && !is_folder(root / "sparse"))
    return "it has no model: neither a folder sparse/, nor transforms.json, nor cams/NAME_cam.txt, nor "
           "cameras and images as .txt or .bin, here or up to three folders deeper";
  const int photos =
      !images_given && !is_folder(root / "images") && !is_folder(root / "sparse") ? images_in(root) : 0;
  if (photos == 2)
    return "it holds two images and no cameras; those of a rectified pair are given as LEFT RIGHT, or lie in "
           "a folder as im0 and im1";
  if (photos > 0)
    return "it holds photos and no cameras; put them into a folder images/ and run structure from motion, "
           "such as COLMAP's, which makes the cameras in sparse/ beside it";
  if (!images_given && !is_folder(root / "images"))
    return "it has no folder images/ (and no file transforms.json); --images names another folder of the "
           "photos";
  if (!is_folder(root / "sparse"))
    return "it has no folder sparse/ with the cameras, as COLMAP makes it (nor a file transforms.json, nor "
           "cams/NAME_cam.txt)";
  return "sparse/ (and sparse/0/, sparse/1/ and so on) has no cameras and images as .txt or .bin; where "
         "COLMAP has run, its mapper has written none: see its last lines";
}

}  // namespace recon

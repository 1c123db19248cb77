#include "session/scene/scene_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/paths.hpp"
#include "io/file/input_file.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/mvsnet_model.hpp"
#include "io/model/nerf_model.hpp"

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
  return {fmt::format(
      "{} has {} images and is read; the other models of parts of the scene are not: {}; to use one, give it "
      "alone in a folder sparse/ of a scene of its own",
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

std::string what_is_missing_of_a_scene(const fs::path& root) {
  if (!is_folder(root / "images"))
    return "it has no folder images/ (and no file transforms.json); --images names another folder of the "
           "photos";
  if (!is_folder(root / "sparse"))
    return "it has no folder sparse/ (nor a file transforms.json, nor cams/NAME_cam.txt)";
  return "sparse/ (and sparse/0/, sparse/1/ and so on) has no cameras and images as .txt or .bin";
}

}  // namespace recon

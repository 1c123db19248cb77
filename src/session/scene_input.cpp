#include "session/scene_input.hpp"

#include <algorithm>
#include <system_error>

#include "core/error.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool has_model(const fs::path& folder) {
  return (is_file(folder / "cameras.bin") && is_file(folder / "images.bin")) ||
         (is_file(folder / "cameras.txt") && is_file(folder / "images.txt"));
}

/// What a folder lacks to be a scene.
std::string what_is_missing(const fs::path& root) {
  if (!is_folder(root / "images")) return "it has no folder images/";
  if (!is_folder(root / "sparse")) return "it has no folder sparse/";
  return "sparse/ (and sparse/0/) has no cameras and images as .txt or .bin";
}

void refuse_pair(const fs::path& input) {
  if (is_file(input) || is_file(input / "calib.txt"))
    throw UsageError(
        input.string() +
        ": rectified pairs are not in this version; give a folder with images/ and sparse/ (COLMAP)");
}

std::vector<SceneFolder> scenes_below(const fs::path& folder) {
  std::vector<SceneFolder> scenes;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (const auto scene = find_scene(entry.path())) scenes.push_back(*scene);
  std::sort(scenes.begin(), scenes.end(),
            [](const SceneFolder& a, const SceneFolder& b) { return a.root < b.root; });
  return scenes;
}

}  // namespace

std::optional<SceneFolder> find_scene(const fs::path& root) {
  if (!is_folder(root / "images")) return std::nullopt;
  for (const fs::path& model : {root / "sparse", root / "sparse" / "0"})
    if (has_model(model)) return SceneFolder{root, root / "images", model};
  return std::nullopt;
}

std::vector<SceneFolder> expand_inputs(const std::vector<fs::path>& inputs) {
  std::vector<SceneFolder> scenes;
  for (const fs::path& input : inputs) {
    std::error_code error;
    if (!fs::exists(input, error)) throw InputError(input.string() + ": there is no such folder");
    refuse_pair(input);
    if (const auto scene = find_scene(input)) {
      scenes.push_back(*scene);
      continue;
    }
    const std::vector<SceneFolder> below = scenes_below(input);
    if (below.empty())
      throw InputError(input.string() + ": this is no scene: " + what_is_missing(input) +
                       "; nor does a sub-folder hold one");
    scenes.insert(scenes.end(), below.begin(), below.end());
  }
  return scenes;
}

}  // namespace recon

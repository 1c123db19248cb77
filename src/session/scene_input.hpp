#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace recon {

/// Where the parts of a COLMAP scene lie.
struct SceneFolder {
  std::filesystem::path root;
  std::filesystem::path images;  ///< root/images
  std::filesystem::path model;   ///< root/sparse or root/sparse/0
};

/// The parts of a scene; nothing when `root` has no images folder or no model.
std::optional<SceneFolder> find_scene(const std::filesystem::path& root);

/// The scenes that the inputs mean: each is a scene, or a folder whose sub-folders (by name) are scenes.
/// @throws InputError when one is neither, with what is missing
/// @throws UsageError for a rectified pair, which this version does not take
std::vector<SceneFolder> expand_inputs(const std::vector<std::filesystem::path>& inputs);

}  // namespace recon

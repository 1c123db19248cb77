#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace recon {

/// The program that a scene is from; all are read into the same model.
enum class SceneFormat { kColmap, kNerf, kMvsnet };

/// Where the parts of a scene lie.
struct SceneFolder {
  std::filesystem::path root;
  std::filesystem::path images;      ///< names of photos are relative to it: root/images, of kNerf root,
                                     ///< of kMvsnet also root/blended_images, or --images
  std::filesystem::path model;       ///< root/sparse or root/sparse/N, the JSON file of kNerf, or root/cams
  std::filesystem::path masks = {};  ///< root/masks; empty: there is none
  std::filesystem::path name = {};   ///< below the folder in which it was found; empty: it was named itself
  SceneFormat format = SceneFormat::kColmap;
  bool images_given = false;               ///< by --images
  bool alone = true;                       ///< else one of a session: relative folders lie in each scene
  std::vector<std::string> warnings = {};  ///< what was left out of several models
};

/// Where the parts of a rectified pair lie.
struct PairFiles {
  std::filesystem::path root;  ///< empty for two image files
  std::filesystem::path left, right;
  std::filesystem::path calibration;  ///< empty: none
  std::filesystem::path name = {};    ///< as of a scene
  std::string advice = {};  ///< where two files seem to be no rectified pair, for the end of a message; of a
                            ///< folder empty
};

/// An input that cannot be processed, and why.
struct UnusableInput {
  std::filesystem::path path;
  std::string reason;
  std::filesystem::path name = {};  ///< as of a scene; it has no output
};

using Input = std::variant<SceneFolder, PairFiles, UnusableInput>;

inline bool is_usable(const Input& input) {
  return !std::holds_alternative<UnusableInput>(input);
}

/// How messages and reports call an input: its folder, or the left image.
inline std::filesystem::path input_name(const Input& input) {
  if (const auto* scene = std::get_if<SceneFolder>(&input)) return scene->root;
  if (const auto* unusable = std::get_if<UnusableInput>(&input)) return unusable->path;
  const auto& pair = std::get<PairFiles>(input);
  return pair.root.empty() ? pair.left : pair.root;
}

}  // namespace recon

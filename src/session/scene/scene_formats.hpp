#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "scene/scene.hpp"
#include "session/options/inputs.hpp"

namespace recon {

/// What the program does with the models of a format.
struct SceneImporter {
  SceneFormat format;
  /// Completes the parts of a scene that are known: its root, the folder of the photos, and whether that was
  /// given. False where root has no model of this format, or no folder of photos.
  bool (*find)(SceneFolder& scene);
  /// Finds out what can be known without reading all of the model. @throws Error as `read` would
  void (*check)(const SceneFolder& scene, std::size_t memory_limit);
  /// @param memory_limit  max bytes of the model
  /// @throws InputError with the file and the place in it, OutOfMemory
  Scene (*read)(const SceneFolder& scene, std::size_t memory_limit);
};

/// The formats of scenes, in the order in which they are looked for.
std::span<const SceneImporter> scene_importers();

/// The importer of a scene that was found.
const SceneImporter& importer_of(const SceneFolder& scene);

/// Completes a scene whose folder of photos was given and whose COLMAP model is in `root` itself or up to
/// three folders below it: the uppermost, of several beside each other the largest. False where there is
/// none.
bool find_model_below(SceneFolder& scene);

/// What a folder lacks to be a scene.
/// @param images_given  the folder of the photos was given, and is one
std::string what_is_missing_of_a_scene(const std::filesystem::path& root, bool images_given);

}  // namespace recon

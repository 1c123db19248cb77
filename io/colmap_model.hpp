#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "scene/scene.hpp"

namespace recon {

enum class ColmapFormat { kText, kBinary };

/// A file of a model in memory; `name` is what messages call it.
struct ColmapFile {
  std::string name;
  std::string bytes;
};

/// Takes the next bytes of a file.
using ByteSink = std::function<void(std::string_view)>;

/// The files of a model: cameras, images and, where there are sparse points, points3D.
struct ColmapFiles {
  ColmapFile cameras;
  ColmapFile images;
  std::optional<ColmapFile> points;
};

/// Reads a COLMAP model (COLMAP 3.8, all its camera models): the binary files when cameras.bin and images.bin
/// are there, else the text files. Views are sorted by name; quaternions are normalised, and so are names
/// ("a.jpg" for "./a.jpg"). A missing points3D file is no error: the scene has no points then, and
/// observations lose the ids of points that do not exist. Track elements of views that are not in the images
/// file are left out, with a warning in the scene.
/// @param memory_limit  bytes that reading may take
/// @throws InputError with file and line (text) or byte (binary), the value found and what to do, when a file
/// is missing,
///         truncated or corrupt, or when cameras, views and points contradict each other
/// @throws OutOfMemory before more than the limit is taken
Scene read_colmap_model(const std::filesystem::path& folder,
                        std::size_t memory_limit = std::numeric_limits<std::size_t>::max());

/// The same from memory.
Scene parse_colmap_model(const ColmapFiles& files, ColmapFormat format);

/// Writes cameras, images and points3D into `folder`, views in the order of `scene.views` (the order in which
/// COLMAP's visibility files count images). Numbers in text are the shortest that read back as the same
/// double. Rotations are written as quaternions with w >= 0.
/// @throws OutputError; InputError for a name that the text format cannot hold (blanks at its ends)
void write_colmap_model(const std::filesystem::path& folder, const Scene& scene, ColmapFormat format);

/// The same; files of the other format are removed, so that no stale model is read later.
void replace_colmap_model(const std::filesystem::path& folder, const Scene& scene, ColmapFormat format);

/// The same into memory.
ColmapFiles format_colmap_model(const Scene& scene, ColmapFormat format);

/// The folder of the model of a scene: `sparse/`, `sparse/0/` or the `sparse/N/` of the lowest number N,
/// whichever is the first that has cameras and images in one of the two formats; nothing when none has.
std::optional<std::filesystem::path> find_model_folder(const std::filesystem::path& scene_folder);

/// The same.
/// @throws InputError that says what was looked for
std::filesystem::path find_model(const std::filesystem::path& scene_folder);

/// The folder of the photos of a scene: `images/`.
/// @throws InputError that says what was looked for
std::filesystem::path find_images(const std::filesystem::path& scene_folder);

}  // namespace recon

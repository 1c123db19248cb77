#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scene/scene.hpp"

namespace recon {

enum class ColmapFormat { kText, kBinary };

/// A file of a model in memory; `name` is what messages call it.
struct ColmapFile {
  std::string name;
  std::string bytes;
};

/// The files of a model: cameras, images and, where there are sparse points, points3D.
struct ColmapFiles {
  ColmapFile cameras;
  ColmapFile images;
  std::optional<ColmapFile> points;
};

/// Reads a COLMAP model (COLMAP 3.8, all its camera models): the binary files when cameras.bin is there, else
/// the text files. Views are sorted by name; quaternions are normalised. A missing points3D file is no error:
/// the scene has no points then, and observations lose the ids of points that do not exist.
/// @throws InputError with file and line (text) or byte (binary), the value found and what to do, when a file
/// is missing,
///         truncated or corrupt, or when cameras, views and points contradict each other
Scene read_colmap_model(const std::filesystem::path& folder);

/// The same from memory.
Scene parse_colmap_model(const ColmapFiles& files, ColmapFormat format);

/// Writes cameras, images and points3D into `folder`, views in the order of `scene.views` (the order in which
/// COLMAP's visibility files count images). Files of the other format are removed, so that no stale model is
/// read later. Numbers in text are the shortest that read back as the same double. Rotations are written as
/// quaternions with w >= 0.
/// @throws OutputError; InputError for a name that the text format cannot hold (blanks at its ends)
void write_colmap_model(const std::filesystem::path& folder, const Scene& scene, ColmapFormat format);

/// The same into memory.
ColmapFiles format_colmap_model(const Scene& scene, ColmapFormat format);

/// The folder of the model of a scene: `sparse/` or `sparse/0/`, whichever has a cameras file.
/// @throws InputError that says what was looked for
std::filesystem::path find_model(const std::filesystem::path& scene_folder);

/// The folder of the photos of a scene: `images/`.
/// @throws InputError that says what was looked for
std::filesystem::path find_images(const std::filesystem::path& scene_folder);

}  // namespace recon

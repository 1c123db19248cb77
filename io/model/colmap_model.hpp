#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

enum class ColmapFormat { kText, kBinary };

/// Reads a COLMAP model (COLMAP 3.8 to 4, all camera models): the binary files if cameras.bin and images.bin
/// exist, otherwise the text files. Where there are rigs and frames, poses come from these, as in COLMAP, and
/// a warning states how many images state another one. Views are sorted by name; quaternions are normalised,
/// and so are names ("a.jpg" for "./a.jpg"). A missing points3D file is not an error: the scene has no points
/// then. References to what is gone are ignored with a warning in the scene: observations of missing points
/// lose their ids, and track elements of missing views and observations are omitted. So it is with values
/// that are not finite, see ColmapBuilder. Only a missing camera is an error.
/// @param memory_limit  max bytes that reading may allocate
/// @throws InputError with file and line (text) or byte (binary), the value found and what to do, when a file
/// is missing, truncated or corrupt, or when cameras, views and points contradict each other
/// @throws OutOfMemory before the limit is exceeded
Scene read_colmap_model(const std::filesystem::path& folder,
                        std::size_t memory_limit = std::numeric_limits<std::size_t>::max());

/// What can be found out about a model without reading all of it: its files can be opened, and its cameras
/// read.
/// @throws as read_colmap_model
void check_colmap_model(const std::filesystem::path& folder, std::size_t memory_limit);

/// Writes cameras, images and points3D into `folder`, views in the order of `scene.views` (the order in which
/// COLMAP's visibility files count images). Numbers in text are the shortest that parse to the same double.
/// Rotations are written as quaternions with w >= 0.
/// @throws OutputError; InputError for a name that the text format cannot represent (blanks at its ends)
void write_colmap_model(const std::filesystem::path& folder, const Scene& scene, ColmapFormat format);

/// A folder with a model.
struct ModelFolder {
  std::filesystem::path path;
  std::uint64_t images = 0;  ///< counted only where there are several models
};

/// The model folders of a scene, which have cameras and images in one of the two formats: `sparse/`, or else
/// all `sparse/N/`, those with more images first, of others the lowest N. COLMAP writes one for each part of
/// the scene that it could not connect.
std::vector<ModelFolder> find_model_folders(const std::filesystem::path& scene_folder);

/// Whether a folder has cameras and images in one of the two formats.
bool has_colmap_model(const std::filesystem::path& folder);

/// Model folders in the order of `find_model_folders`; those of the same size stay in the order given.
std::vector<ModelFolder> largest_first(const std::vector<std::filesystem::path>& models);

/// The first of them; empty if there is none.
std::optional<std::filesystem::path> find_model_folder(const std::filesystem::path& scene_folder);

/// The same.
/// @throws InputError that says what was looked for
std::filesystem::path find_model(const std::filesystem::path& scene_folder);

/// A reference view of patch-match.cfg with the names of its source views, best first.
struct PatchMatchEntry {
  std::string reference;
  std::vector<std::string> sources;
};

/// Writes stereo/patch-match.cfg of a COLMAP dense workspace: per view a line with its name and a line with
/// the names of its source views, separated by commas. Omitted are sources whose names contain a comma or
/// semicolon, which the format cannot represent, views without remaining sources, and views whose names start
/// with # (a comment in COLMAP).
/// @throws OutputError
void write_patch_match_config(const std::filesystem::path& path, const std::vector<PatchMatchEntry>& entries);

/// Writes stereo/fusion.cfg: one name per line, in the given order. Names that start with # are omitted.
/// @throws OutputError
void write_fusion_config(const std::filesystem::path& path, const std::vector<std::string>& names);

}  // namespace recon

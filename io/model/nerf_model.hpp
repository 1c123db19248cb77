#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "scene/scene.hpp"

namespace recon {

/// Reads the model of a file transforms.json as nerfstudio, instant-ngp and the scenes of NeRF (Mildenhall et
/// al. 2020) have it. Of each frame: `file_path`, found as `find_model_file` does; `transform_matrix`, from
/// camera (x right, y up, z backward) to world coordinates, whose last row may be absent; `depth_file_path`;
/// and, in the frame or for all in the file, `camera_model` or `is_fisheye`, `fl_x` or else `camera_angle_x`,
/// `fl_y` or else `camera_angle_y` (default: fl_x), `cx` and `cy` (default: the centre), `w` and `h`
/// (default: of the photo), `k1` to `k4`, `p1`, `p2` (default: 0), `mask_path` (default:
/// dynamic_mask_NAME.png beside the photo, if it is there). Pixel centres are at 0.5, as ours. All else is
/// ignored. Views whose photo cannot be read, where the file has no size, or is not found by an absolute
/// path, and those without a usable pose or camera are the unusable ones of the scene. The second frame of a
/// photo is left out with a warning. The scene has no points.
/// @param images  the folder of the photos; empty: that of the file
/// @throws InputError with file and field, the value found and what to do
/// @throws OutOfMemory before the limit is exceeded
Scene read_nerf_model(const std::filesystem::path& file,
                      std::size_t memory_limit = std::numeric_limits<std::size_t>::max(),
                      const std::filesystem::path& images = {});

/// The same from memory; `folder` has the photos, `file` is the name in messages.
/// @param moved  the folder is not the one of the file, see `find_model_file`
Scene parse_nerf_model(std::string_view bytes, const std::string& file, const std::filesystem::path& folder,
                       std::size_t memory_limit = std::numeric_limits<std::size_t>::max(),
                       bool moved = false);

}  // namespace recon

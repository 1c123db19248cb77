#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "scene/pinhole.hpp"
#include "scene/scene.hpp"

namespace recon {

/// Content of a camera file of MVSNet; it has no image size: width and height are 0.
struct MvsnetCamera {
  Pinhole pinhole;
  Pose cam_from_world;
};

/// Reads a camera file of MVSNet: "extrinsic" and the 4x4 matrix from world to camera coordinates (x right, y
/// down, z forward), "intrinsic" and [fx 0 cx; 0 fy cy; 0 0 1]. Further words behind "extrinsic" and
/// "intrinsic" are conventions: camera2world is inverted, other axes are refused. Pixel centres are at 0.5,
/// as ours. What follows, the range of depths, is ignored.
/// @throws InputError with file and line
MvsnetCamera parse_mvsnet_camera(std::string_view bytes, const std::string& file);

/// The camera files NAME_cam.txt of a folder, by name; none if there is no such folder.
std::vector<std::filesystem::path> mvsnet_camera_files(const std::filesystem::path& cams);

/// Reads the model of a folder in the format of MVSNet (Yao et al. 2018), of the camera files and the sizes
/// of the photos NAME.jpg, .png and so on. Views whose photo is missing or cannot be read, or whose camera
/// file is refused, are the unusable ones of the scene. It has no points.
/// @throws InputError when no photo can be used
/// @throws OutOfMemory before the limit is exceeded
Scene read_mvsnet_model(const std::filesystem::path& cams, const std::filesystem::path& images,
                        std::size_t memory_limit = std::numeric_limits<std::size_t>::max());

}  // namespace recon

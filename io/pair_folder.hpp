#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "scene/stereo_camera.hpp"

namespace recon {

/// What calib.txt says of a rectified pair.
struct PairCalibration {
  StereoCamera camera;             ///< its width and height are 0 where the file has none
  std::optional<int> disparities;  ///< ndisp: searched are 0 <= d < disparities
};

/// Reads Middlebury's calib.txt (2014, 2021 and ETH3D's): lines KEY=VALUE with cam0 and cam1, the matrices
/// [f 0 cx; 0 f cy; 0 0 1], and baseline; doffs (else taken from the matrices), width, height and ndisp. In
/// the file the centres of pixels have integer coordinates: cx and cy become greater by half a pixel. Keys of
/// other names are not looked at.
/// @throws InputError with file and line for a key that is missing or there twice, a value that is not what
/// it has to be, and cameras that are not those of a rectified pair
PairCalibration read_pair_calibration(const std::filesystem::path& path);
PairCalibration parse_pair_calibration(std::string_view bytes, const std::string& file);

}  // namespace recon

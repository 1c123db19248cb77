#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "scene/pinhole.hpp"

namespace recon {

/// Content of calib.txt of a rectified pair.
struct PairCalibration {
  StereoCamera camera;             ///< width and height are 0 if the file has none
  std::optional<int> disparities;  ///< ndisp: the search range is 0 <= d < disparities
};

/// Reads Middlebury's calib.txt (2014, 2021 and ETH3D's): lines KEY=VALUE with cam0 and cam1, the matrices [f
/// 0 cx; 0 f cy; 0 0 1], and baseline; doffs (by default from the matrices), width, height and ndisp. In the
/// file pixel centres have integer coordinates: half a pixel is added to cx and cy. Other keys are ignored.
/// @throws InputError with file and line for missing or duplicate keys, invalid values, and cameras that are
/// not rectified
PairCalibration read_pair_calibration(const std::filesystem::path& path);
PairCalibration parse_pair_calibration(std::string_view bytes, const std::string& file);

}  // namespace recon

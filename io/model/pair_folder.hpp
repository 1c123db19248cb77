#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "scene/pinhole.hpp"

namespace recon {

/// The unit of a baseline, and so of depths.
enum class LengthUnit { kUnstated, kMillimetre, kMetre };

/// "mm" or "m"; empty where it is unknown.
const char* unit_name(LengthUnit unit);

/// The calibration of a rectified pair.
struct PairCalibration {
  StereoCamera camera;                  ///< width and height are 0 if the file has none
  std::optional<int> disparities = {};  ///< ndisp: the search range is 0 <= d < disparities
  LengthUnit unit = LengthUnit::kUnstated;
  const char* format = "";  ///< the program or data set that it is from
  std::string note = {};    ///< what was chosen of several readings, for people; empty: nothing
};

/// Numbers of the cameras of KITTI that took the images, left and right: 0 and 1, or 2 and 3.
using KittiCameras = std::pair<int, int>;

/// These, by the folders of images as KITTI names them, such as image_02 and image_03; nothing for others.
std::optional<KittiCameras> kitti_cameras(const std::filesystem::path& left,
                                          const std::filesystem::path& right);

/// Reads the calibration of a rectified pair, whose format its content shows:
/// - Middlebury (2014, 2021 and ETH3D): lines KEY=VALUE with cam0 and cam1, the matrices [f 0 cx; 0 f cy; 0 0
///   1], and baseline, in millimetres; doffs (by default from the matrices), width, height and ndisp;
/// - OpenCV, YAML or JSON of cv::FileStorage: P1 and P2 of stereoRectify, or else Q; image_width and
///   image_height or imageSize. The unit is that of the calibration pattern;
/// - KITTI: lines "P0: " to "P3: " or "P_rect_00: " to "P_rect_03: " with twelve numbers, in metres, and
/// S_rect;
/// - RealSense, JSON: fx, fy, ppx and ppy (or cx and cy) of the left infrared camera, and baseline or the
///   translation of extrinsics, in metres (a baseline above 1 is in millimetres, as the devices say it).
/// All count from the centre of the first pixel: half a pixel is added to cx and cy. Other keys are ignored.
/// @param cameras  of KITTI; nothing: 2 and 3, or 0 and 1 where the file lacks these
/// @throws InputError with the place for missing or duplicate keys, invalid values, and cameras that are not
/// rectified
PairCalibration read_pair_calibration(const std::filesystem::path& path,
                                      std::optional<KittiCameras> cameras = {});
PairCalibration parse_pair_calibration(std::string_view bytes, const std::string& file,
                                       std::optional<KittiCameras> cameras = {});

}  // namespace recon

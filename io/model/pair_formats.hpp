#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file/input_file.hpp"
#include "io/model/pair_folder.hpp"

namespace recon {

/// The formats of parse_pair_calibration, which has the half pixel still to be added.

/// A projection matrix, row by row, and where it stands.
struct Projection {
  std::array<double, 12> m{};
  std::string name;  ///< for messages
};

/// The cameras of two projection matrices [f 0 cx f t] of cameras that see the world from -t.
/// @throws InputError where they are not rectified, or the second one is not right of the first
StereoCamera stereo_camera(const Projection& left, const Projection& right, const std::string& file);

/// What a file of OpenCV, of YAML or JSON, has of these keys.
using Numbers = std::vector<double>;
using OpencvValues = std::map<std::string, Numbers, std::less<>>;
inline constexpr std::array kOpencvKeys = {"P1",         "P2",          "Q",           "imageSize",
                                           "image_size", "image_width", "image_height"};
PairCalibration opencv_calibration(const OpencvValues& values, const std::string& file);

/// Sets the size of the images. @throws InputError where it is none
void set_size(Pinhole& camera, double width, double height, const FilePlace& place);

bool is_opencv_calibration(std::string_view bytes);
PairCalibration parse_opencv_calibration(std::string_view bytes, const std::string& file);

bool is_kitti_calibration(std::string_view bytes, const std::string& file);
PairCalibration parse_kitti_calibration(std::string_view bytes, const std::string& file,
                                        std::optional<KittiCameras> cameras);

/// Of RealSense, or of OpenCV in JSON: a text that begins with a brace.
PairCalibration parse_json_calibration(std::string_view bytes, const std::string& file);

}  // namespace recon

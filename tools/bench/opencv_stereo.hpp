#pragma once

#include <cstdint>
#include <functional>

#include "core/image.hpp"

namespace recon {

/// A matcher of OpenCV, made for comparison alone. Keeps its memory from call to call.
/// @returns the sum of the disparities, so that the work cannot be left out
using OpenCvStereo =
    std::function<double(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right)>;

/// OpenCV's StereoBM with its defaults (x-Sobel prefilter, cap 31, texture 10, uniqueness 15 %).
/// @param disparities  a multiple of 16
/// @param left_right   its check of both views, 1 pixel; else off
/// @param threads      of OpenCV
OpenCvStereo opencv_block_matching(int disparities, int window, bool left_right, int threads);

/// What OpenCV's StereoSGBM does along its paths.
enum class OpenCvPaths {
  kEight,  ///< MODE_HH
  kThree,  ///< MODE_SGBM_3WAY
};

/// OpenCV's StereoSGBM with block size 3 and its usual penalties, uniqueness 5 % and a left-right check of 1
/// pixel; the speckle filter is off.
/// @param disparities  a multiple of 16
/// @param threads      of OpenCV
OpenCvStereo opencv_semi_global(int disparities, OpenCvPaths paths, int threads);

}  // namespace recon

#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace recon {

/// What OpenCV's StereoSGBM does along its paths.
enum class OpenCvPaths {
  kEight,  ///< MODE_HH
  kThree,  ///< MODE_SGBM_3WAY
};

/// Disparities by OpenCV's StereoSGBM with block size 3 and its usual penalties, uniqueness 5 % and a
/// left-right check of 1 pixel; the speckle filter is off. Made for comparison alone.
/// @param disparities  a multiple of 16
/// @param threads      of OpenCV
/// @returns the sum of the disparities, so that the work cannot be left out
double match_with_opencv(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
                         int disparities, OpenCvPaths paths, int threads);

}  // namespace recon

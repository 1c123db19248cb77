#pragma once

#include <cstdint>
#include <memory>

#include "core/image.hpp"

namespace recon {

/// Block matching by OpenCV's StereoBM with its defaults (x-Sobel prefilter, cap 31, texture 10, uniqueness
/// 15 %), made for comparison alone.
/// @param disparities  a multiple of 16
/// @param left_right   its check of both views, 1 pixel; else off
/// @param threads      of OpenCV
/// @returns the sum of the disparities, so that the work cannot be left out
double match_blocks_with_opencv(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
                                int disparities, int window, bool left_right, int threads);

/// What OpenCV's StereoSGBM does along its paths.
enum class OpenCvPaths {
  kEight,  ///< MODE_HH
  kThree,  ///< MODE_SGBM_3WAY
};

/// OpenCV's StereoSGBM with block size 3 and its usual penalties, uniqueness 5 % and a left-right check of 1
/// pixel; the speckle filter is off. Keeps its memory from call to call. Made for comparison alone.
class OpenCvStereo {
 public:
  /// @param disparities  a multiple of 16
  /// @param threads      of OpenCV
  OpenCvStereo(int disparities, OpenCvPaths paths, int threads);
  ~OpenCvStereo();

  /// @returns the sum of the disparities, so that the work cannot be left out
  double match(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right);

 private:
  struct Matcher;
  std::unique_ptr<Matcher> matcher_;
};

}  // namespace recon

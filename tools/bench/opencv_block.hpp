#pragma once

#include <cstdint>

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

}  // namespace recon

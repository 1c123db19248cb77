#pragma once

#include <cstdint>
#include <functional>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>

#include "core/image.hpp"

namespace recon {

/// A matcher of OpenCV, made for comparison alone. Keeps its memory from call to call.
/// @returns the sum of the disparities, so that the work cannot be left out
using OpenCvStereo =
    std::function<double(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right)>;

inline OpenCvStereo opencv_stereo(const cv::Ptr<cv::StereoMatcher>& matcher, int threads) {
  return [matcher, threads, disparity = cv::Mat()](ImageView<const std::uint8_t> left,
                                                   ImageView<const std::uint8_t> right) mutable {
    // OpenCV has no view of constant pixels.
    const auto mat = [](ImageView<const std::uint8_t> image) {
      return cv::Mat(image.height, image.width, CV_8UC1, const_cast<std::uint8_t*>(image.data),
                     static_cast<std::size_t>(image.pitch));
    };
    cv::setNumThreads(threads);
    matcher->compute(mat(left), mat(right), disparity);
    return cv::sum(disparity)[0];
  };
}

/// OpenCV's StereoBM with its defaults (x-Sobel prefilter, cap 31, texture 10, uniqueness 15 %).
/// @param disparities  a multiple of 16
/// @param left_right   its check of both views, 1 pixel; else off
inline OpenCvStereo opencv_block_matching(int disparities, int window, bool left_right, int threads) {
  const cv::Ptr<cv::StereoBM> matcher = cv::StereoBM::create(disparities, window);
  matcher->setDisp12MaxDiff(left_right ? 1 : -1);
  return opencv_stereo(matcher, threads);
}

/// OpenCV's StereoSGBM with block size 3 and its usual penalties, uniqueness 5 % and a left-right check of 1
/// pixel; the speckle filter is off.
/// @param disparities  a multiple of 16
/// @param mode         MODE_HH: 8 paths, MODE_SGBM_3WAY: 3
inline OpenCvStereo opencv_semi_global(int disparities, int mode, int threads) {
  constexpr int kBlock = 3, kP1 = 8 * kBlock * kBlock;
  return opencv_stereo(cv::StereoSGBM::create(0, disparities, kBlock, kP1, 4 * kP1, 1, 0, 5, 0, 0, mode),
                       threads);
}

}  // namespace recon

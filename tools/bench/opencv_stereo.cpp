#include "tools/bench/opencv_stereo.hpp"

#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>

namespace recon {

namespace {

/// OpenCV has no view of constant pixels.
cv::Mat as_mat(ImageView<const std::uint8_t> image) {
  return {image.height, image.width, CV_8UC1, const_cast<std::uint8_t*>(image.data),
          static_cast<std::size_t>(image.pitch)};
}

OpenCvStereo with_threads(const cv::Ptr<cv::StereoMatcher>& matcher, int threads) {
  return [matcher, threads, disparity = cv::Mat()](ImageView<const std::uint8_t> left,
                                                   ImageView<const std::uint8_t> right) mutable {
    cv::setNumThreads(threads);
    matcher->compute(as_mat(left), as_mat(right), disparity);
    return cv::sum(disparity)[0];
  };
}

}  // namespace

OpenCvStereo opencv_block_matching(int disparities, int window, bool left_right, int threads) {
  const cv::Ptr<cv::StereoBM> matcher = cv::StereoBM::create(disparities, window);
  matcher->setDisp12MaxDiff(left_right ? 1 : -1);
  return with_threads(matcher, threads);
}

OpenCvStereo opencv_semi_global(int disparities, OpenCvPaths paths, int threads) {
  constexpr int kBlock = 3;
  const int mode = paths == OpenCvPaths::kEight ? cv::StereoSGBM::MODE_HH : cv::StereoSGBM::MODE_SGBM_3WAY;
  return with_threads(cv::StereoSGBM::create(0, disparities, kBlock, 8 * kBlock * kBlock,
                                             32 * kBlock * kBlock, 1, 0, 5, 0, 0, mode),
                      threads);
}

}  // namespace recon

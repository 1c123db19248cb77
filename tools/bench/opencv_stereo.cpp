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

}  // namespace

double match_blocks_with_opencv(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
                                int disparities, int window, bool left_right, int threads) {
  cv::setNumThreads(threads);
  const cv::Ptr<cv::StereoBM> matcher = cv::StereoBM::create(disparities, window);
  matcher->setDisp12MaxDiff(left_right ? 1 : -1);
  cv::Mat disparity;
  matcher->compute(as_mat(left), as_mat(right), disparity);
  return cv::sum(disparity)[0];
}

struct OpenCvStereo::Matcher {
  cv::Ptr<cv::StereoSGBM> sgbm;
  cv::Mat disparity;
  int threads;
};

OpenCvStereo::OpenCvStereo(int disparities, OpenCvPaths paths, int threads) {
  constexpr int kBlock = 3;
  const int mode = paths == OpenCvPaths::kEight ? cv::StereoSGBM::MODE_HH : cv::StereoSGBM::MODE_SGBM_3WAY;
  matcher_ =
      std::make_unique<Matcher>(Matcher{cv::StereoSGBM::create(0, disparities, kBlock, 8 * kBlock * kBlock,
                                                               32 * kBlock * kBlock, 1, 0, 5, 0, 0, mode),
                                        {},
                                        threads});
}

OpenCvStereo::~OpenCvStereo() = default;

double OpenCvStereo::match(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right) {
  cv::setNumThreads(matcher_->threads);
  matcher_->sgbm->compute(as_mat(left), as_mat(right), matcher_->disparity);
  return cv::sum(matcher_->disparity)[0];
}

}  // namespace recon

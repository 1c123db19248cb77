#pragma once

#include <cstdint>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

namespace recon {

/// The file of an image, written by OpenCV.
inline std::string encoded(const char* extension, const cv::Mat& mat) {
  std::vector<std::uint8_t> bytes;
  cv::imencode(extension, mat, bytes);
  return {bytes.begin(), bytes.end()};
}

}  // namespace recon

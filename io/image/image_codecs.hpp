#pragma once

#include <opencv2/core.hpp>
#include <opencv2/core/version.hpp>
#include <string>
#include <vector>

namespace recon {

/// Program and module have the same, or do not understand each other.
constexpr const char* kImageCodecsVersion = RECON_CODECS_VERSION " with OpenCV " CV_VERSION;

/// OpenCV's image formats. They load 130 libraries, so they are a module of their own, a file that is loaded
/// when the first image needs it: a program that reads none starts in a sixth of the time.
struct ImageCodecs {
  const char* version;                                 ///< kImageCodecsVersion; stays first in all versions
  cv::Mat (*decode)(const cv::Mat& bytes, int flags);  ///< cv::imdecode
  bool (*encode)(const std::string& extension, const cv::Mat& pixels, std::vector<std::uint8_t>& bytes,
                 const std::vector<int>& settings);  ///< cv::imencode
};

/// The formats; the first call loads the module: the file RECON_CODECS_FILE beside the program or library
/// that has this code, as in a build folder, or in the folder that it is installed in.
/// @throws OutOfMemory; Error with exit code 1 where it cannot be loaded otherwise. Calls from several
/// threads are safe.
const ImageCodecs& image_codecs();

}  // namespace recon

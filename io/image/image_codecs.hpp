#pragma once

#include <opencv2/core.hpp>
#include <opencv2/core/version.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace recon {

/// Program and module have the same, or do not understand each other.
constexpr const char* kImageCodecsVersion = RECON_CODECS_VERSION " with OpenCV " CV_VERSION;

struct DecodedImage {
  cv::Mat pixels;     ///< as stored: grey, BGR or BGRA; empty: the file cannot be used
  std::string fault;  ///< what is wrong with the file, for people; empty: nothing, or it is not known
};

/// The image formats. They load 130 libraries, so they are a module of their own, a file that is loaded
/// when the first image needs it: a program that reads none starts in a sixth of the time.
struct ImageCodecs {
  const char* version;  ///< kImageCodecsVersion; stays first in all versions
  /// Decodes a file of at most kMaxImageFileBytes in memory; the EXIF orientation is not applied.
  /// @throws std::bad_alloc, cv::Exception
  DecodedImage (*decode)(std::string_view bytes);
  bool (*encode)(const std::string& extension, const cv::Mat& pixels, std::vector<std::uint8_t>& bytes,
                 const std::vector<int>& settings);  ///< cv::imencode
};

/// The formats; the first call loads the module: the file RECON_CODECS_FILE beside the program or library
/// that has this code, as in a build folder, or in the folder that it is installed in.
/// @throws OutOfMemory; Error with exit code 1 where it cannot be loaded otherwise. Calls from several
/// threads are safe.
const ImageCodecs& image_codecs();

}  // namespace recon

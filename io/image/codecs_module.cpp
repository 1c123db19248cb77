// The module of `image_codecs`.

#include <opencv2/imgcodecs.hpp>

#include "io/image/image_codecs.hpp"

namespace {

cv::Mat decode_by_opencv(const cv::Mat& bytes, int flags) {
  return cv::imdecode(bytes, flags);
}

bool encode_by_opencv(const std::string& extension, const cv::Mat& pixels, std::vector<std::uint8_t>& bytes,
                      const std::vector<int>& settings) {
  return cv::imencode(extension, pixels, bytes, settings);
}

}  // namespace

extern "C" {
extern const recon::ImageCodecs reconstruct_image_codecs;
const recon::ImageCodecs reconstruct_image_codecs = {recon::kImageCodecsVersion, decode_by_opencv,
                                                     encode_by_opencv};
}

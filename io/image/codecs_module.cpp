// The module of `image_codecs`.

#include <opencv2/imgcodecs.hpp>

#include "io/image/decoders.hpp"
#include "io/image/image_header.hpp"

namespace {

using recon::DecodedImage;

DecodedImage decode(std::string_view bytes) {
  if (recon::is_jpeg(bytes)) return recon::decode_jpeg(bytes);
  if (recon::is_png(bytes)) return recon::decode_png(bytes);
  if (recon::is_tiff(bytes))
    if (std::string fault = recon::fault_of_tiff(bytes); !fault.empty()) return {{}, std::move(fault)};
  // OpenCV takes a mutable pointer but does not write through it.
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  return {cv::imdecode(raw, cv::IMREAD_UNCHANGED), {}};
}

bool encode(const std::string& extension, const cv::Mat& pixels, std::vector<std::uint8_t>& bytes,
            const std::vector<int>& settings) {
  return cv::imencode(extension, pixels, bytes, settings);
}

}  // namespace

extern "C" {
extern const recon::ImageCodecs reconstruct_image_codecs;
const recon::ImageCodecs reconstruct_image_codecs = {recon::kImageCodecsVersion, decode, encode};
}

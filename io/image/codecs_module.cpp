// The module of `image_codecs`.

#include <opencv2/imgcodecs.hpp>

#include "io/file/byte_reader.hpp"
#include "io/image/decoders.hpp"
#include "io/image/image_header.hpp"

namespace {

using recon::DecodedImage;

/// Why OpenCV would print something instead of decoding a WebP; empty: it decodes it, or says nothing.
std::string fault_of_webp(std::string_view bytes) {
  constexpr std::size_t kHeaderBytes = 32, kFlags = 20;
  constexpr int kAnimation = 2;
  if (bytes.size() < kHeaderBytes || bytes.size() - 8 < recon::load_number<std::uint32_t>(&bytes[4]))
    return "the WebP file is truncated; copy it again";
  if (bytes.substr(12, 4) == "VP8X" && (bytes[kFlags] & kAnimation) != 0)
    return "the WebP file is an animation; give its images as files of their own";
  return {};
}

DecodedImage decode(std::string_view bytes) {
  if (recon::is_jpeg(bytes)) return recon::decode_jpeg(bytes);
  if (recon::is_png(bytes)) return recon::decode_png(bytes);
  if (recon::is_tiff(bytes)) return recon::decode_tiff(bytes);
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP"))
    if (std::string fault = fault_of_webp(bytes); !fault.empty()) return {{}, std::move(fault)};
  // OpenCV takes a mutable pointer but does not write through it.
  const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  return {cv::imdecode(raw, cv::IMREAD_UNCHANGED), {}};
}

/// The formats of OpenCV, which it registers when it is first asked for one: GDAL among them ends the process
/// where memory lacks, so this is done with the module, before images take what there is.
[[maybe_unused]] const bool kFormatsAreRegistered = cv::haveImageWriter(".png");

bool encode(const std::string& extension, const cv::Mat& pixels, std::vector<std::uint8_t>& bytes,
            const std::vector<int>& settings) {
  return cv::imencode(extension, pixels, bytes, settings);
}

}  // namespace

extern "C" {
extern const recon::ImageCodecs reconstruct_image_codecs;
const recon::ImageCodecs reconstruct_image_codecs = {recon::kImageCodecsVersion, decode, encode};
}

// The module of `image_codecs`.

#include <cstdlib>
#include <iostream>
#include <mutex>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <streambuf>

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

thread_local bool is_silent = false;

/// A buffer of std::cerr that drops what silent threads write, and hands on the text of all others.
class TextOfOthers : public std::streambuf {
 public:
  explicit TextOfOthers(std::streambuf* target) : target_(target) {}

 protected:
  int_type overflow(int_type c) override {
    if (is_silent || traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    return target_->sputc(traits_type::to_char_type(c));
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    return is_silent ? count : target_->sputn(text, count);
  }
  int sync() override { return is_silent ? 0 : target_->pubsync(); }

 private:
  std::streambuf* const target_;
};

/// During its life OpenCV prints nothing of this thread's images: imdecode writes exceptions of its decoders
/// to std::cerr, and OpenJPEG's messages go to OpenCV's log, also from threads of its own.
class Silence {
 public:
  Silence() {
    const std::lock_guard lock(mutex_);
    // The buffer stays to the end of the process: others may hold it by then.
    static const auto* const before = std::cerr.rdbuf(new TextOfOthers(std::cerr.rdbuf()));
    static_cast<void>(before);
    if (count_++ == 0)
      level_ = cv::utils::logging::setLogLevel(cv::utils::logging::LogLevel::LOG_LEVEL_SILENT);
    is_silent = true;
  }
  ~Silence() {
    is_silent = false;
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) cv::utils::logging::setLogLevel(level_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int count_ = 0;  ///< silences that there are
  static inline cv::utils::logging::LogLevel level_ = {};
};

/// Why OpenCV would not decode an OpenEXR file, of which it decodes none unless a variable of the environment
/// says so, which it reads once; empty: it will.
std::string fault_of_exr() {
  constexpr const char* kVariable = "OPENCV_IO_ENABLE_OPENEXR";
  if (!cv::haveImageWriter(".exr"))
    return "this build reads no OpenEXR, as its OpenCV does not; convert it to .npy or .pfm, or take the "
           "packages for Debian";
  static const bool is_enabled = [] {
    const char* const before = std::getenv(kVariable);
    if (before == nullptr || *before == '\0') return setenv(kVariable, "1", 1) == 0;
    return *before == '1' || *before == 't' || *before == 'T';
  }();
  if (is_enabled) return {};
  return std::string("OpenEXR is turned off by the variable ") + kVariable + "; set it to 1";
}

DecodedImage decode(std::string_view bytes) {
  if (recon::is_jpeg(bytes)) return recon::decode_jpeg(bytes);
  if (recon::is_png(bytes)) return recon::decode_png(bytes);
  if (recon::is_tiff(bytes)) return recon::decode_tiff(bytes);
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP"))
    if (std::string fault = fault_of_webp(bytes); !fault.empty()) return {{}, std::move(fault)};
  if (recon::is_exr(bytes))
    if (std::string fault = fault_of_exr(); !fault.empty()) return {{}, std::move(fault)};
  const Silence silence;
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

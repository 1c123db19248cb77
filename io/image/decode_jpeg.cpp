#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <new>

#include "io/image/decoders.hpp"

// clang-format off: the messages depend on the configuration of the library
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

namespace recon {

namespace {

/// Decodes one file. At an error libjpeg jumps back to the function that called it, which therefore has no
/// objects to destroy.
class JpegReader {
 public:
  JpegReader() {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = [](j_common_ptr info) {
      info->err->format_message(info, self(info).error_);
      std::longjmp(self(info).on_error_, 1);
    };
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) self(info).note_warning();
    };
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  /// @param bytes  outlive this
  /// @returns false after an error
  bool read_header(std::string_view bytes) {
    if (setjmp(on_error_) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info_, TRUE);
    const int channels = info_.num_components;
    info_.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 4 ? JCS_CMYK : JCS_EXT_BGR;
    return true;
  }

  int width() const { return static_cast<int>(info_.image_width); }
  int height() const { return static_cast<int>(info_.image_height); }
  /// 1: grey, 4: inverted CMYK, else BGR.
  int channels() const {
    return info_.num_components == 1 || info_.num_components == 4 ? info_.num_components : 3;
  }

  /// @returns false after an error before all rows were read
  bool read_pixels(cv::Mat& pixels) {
    if (setjmp(on_error_) != 0) return info_.output_scanline == info_.image_height;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels.ptr(static_cast<int>(info_.output_scanline));
      jpeg_read_scanlines(&info_, &row, 1);
    }
    lacks_scans_ = info_.input_scan_number > 0 && !has_all_scans();
    jpeg_finish_decompress(&info_);
    return true;
  }

  bool lacks_memory() const { return errors_.msg_code == JERR_OUT_OF_MEMORY; }
  std::string error() const { return error_; }
  /// Of arithmetic codes libjpeg does not say that they end early.
  bool is_truncated() const { return lacks_end_ && (is_damaged_ || lacks_scans_ || info_.arith_code); }

  /// What is wrong with a file that could be decoded; empty: nothing.
  std::string fault() const {
    if (is_damaged_)
      return fmt::format(
          "the JPEG file is damaged ({}): {} are wrong or grey; it is used as it is, copy it again or "
          "remove it",
          warning_,
          damaged_row_ > 0 ? fmt::format("pixels from row {} of {} on", damaged_row_, height())
                           : "some of its pixels");
    if (lacks_scans_)
      return "the JPEG file lacks some of its scans, so that its pixels are coarse; it is used as it is, "
             "copy it again";
    if (lacks_end_) return "the JPEG file lacks its end marker; its pixels are all there and are used";
    return {};
  }

 private:
  static JpegReader& self(j_common_ptr info) { return *static_cast<JpegReader*>(info->client_data); }

  /// Keeps the first warning that says that pixels are damaged; others are of bytes between the parts of a
  /// file, which many cameras write.
  void note_warning() {
    const int code = errors_.msg_code;
    if (code == JWRN_JPEG_EOF) {
      lacks_end_ = true;
      return;
    }
    const bool damages = code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC;
    if (is_damaged_ || !damages) return;
    errors_.format_message(reinterpret_cast<j_common_ptr>(&info_), warning_);
    is_damaged_ = true;
    if (!jpeg_has_multiple_scans(&info_))
      damaged_row_ = info_.input_iMCU_row * static_cast<unsigned>(info_.max_v_samp_factor) * DCTSIZE;
  }

  /// Whether each component has its coefficients, of a progressive file all of them in full.
  bool has_all_scans() const {
    for (int i = 0; i < info_.num_components; ++i) {
      if (info_.comp_info[i].quant_table == nullptr) return false;
      if (info_.coef_bits == nullptr) continue;
      const int* bits = info_.coef_bits[i];
      if (std::any_of(bits, bits + DCTSIZE2, [](int missing) { return missing != 0; })) return false;
    }
    return true;
  }

  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf on_error_{};
  char error_[JMSG_LENGTH_MAX] = "", warning_[JMSG_LENGTH_MAX] = "";
  bool is_damaged_ = false, lacks_end_ = false, lacks_scans_ = false;
  unsigned damaged_row_ = 0;
};

/// Of CMYK as Adobe's programs write it, inverted.
cv::Mat bgr_of_cmyk(const cv::Mat& cmyk) {
  cv::Mat bgr(cmyk.size(), CV_8UC3);
  for (int y = 0; y < cmyk.rows; ++y) {
    const std::uint8_t* in = cmyk.ptr(y);
    std::uint8_t* out = bgr.ptr(y);
    for (int x = 0; x < cmyk.cols; ++x, in += 4, out += 3)
      for (int i = 0; i < 3; ++i)
        out[2 - i] = static_cast<std::uint8_t>(in[3] - ((255 - in[i]) * in[3] >> 8));
  }
  return bgr;
}

/// @throws std::bad_alloc
DecodedImage refused(const JpegReader& reader) {
  if (reader.lacks_memory()) throw std::bad_alloc();
  return {
      {},
      fmt::format("the JPEG file cannot be decoded ({}); it is damaged or of a kind that is not supported",
                  reader.error())};
}

}  // namespace

DecodedImage decode_jpeg(std::string_view bytes) {
  JpegReader reader;
  if (!reader.read_header(bytes)) return refused(reader);
  cv::Mat pixels(reader.height(), reader.width(), CV_8UC(reader.channels()));
  if (!reader.read_pixels(pixels)) return refused(reader);
  if (reader.is_truncated())
    return {{}, "the JPEG file is truncated (it ends before its pixels do); copy it again"};
  return {pixels.channels() == 4 ? bgr_of_cmyk(pixels) : pixels, reader.fault()};
}

}  // namespace recon

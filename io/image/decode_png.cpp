#include <fmt/format.h>
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>
#include <new>
#include <vector>

#include "io/image/decoders.hpp"
#include "io/image/image_size.hpp"

namespace recon {

namespace {

/// Decodes one file. At an error libpng jumps back to the function that called it, which therefore has no
/// objects to destroy.
class PngReader {
 public:
  /// @param bytes  outlive this
  explicit PngReader(std::string_view bytes) : rest_(bytes) {
    // Its warnings are of what is beside the pixels, such as colour profiles.
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, leave, [](png_structp, png_const_charp) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ != nullptr) return;
    png_destroy_read_struct(&png_, nullptr, nullptr);
    throw std::bad_alloc();
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// @returns false after an error
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_user_limits(png_, kMaxFileSide, kMaxFileSide);
    png_set_read_fn(png_, this, read);
    png_read_info(png_, info_);
    set_kind_of_pixels();
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  int width() const { return static_cast<int>(png_get_image_width(png_, info_)); }
  int height() const { return static_cast<int>(png_get_image_height(png_, info_)); }
  int type() const {
    return CV_MAKETYPE(png_get_bit_depth(png_, info_) == 16 ? CV_16U : CV_8U, png_get_channels(png_, info_));
  }

  /// @returns false after an error, unless all that it says is that the file ends after the pixels
  bool read_pixels(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return lacks_end_ && has_pixels_;
    png_read_image(png_, rows);
    has_pixels_ = true;
    png_read_end(png_, nullptr);
    return true;
  }

  std::string error() const { return error_; }
  bool lacks_end() const { return lacks_end_; }

 private:
  [[noreturn]] static void leave(png_structp png, png_const_charp text) {
    char(&error)[kErrorBytes] = static_cast<PngReader*>(png_get_error_ptr(png))->error_;
    std::strncpy(error, text, kErrorBytes - 1);
    png_longjmp(png, 1);
  }

  static void read(png_structp png, png_bytep out, std::size_t count) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    self.lacks_end_ = count > self.rest_.size();
    if (self.lacks_end_) png_error(png, "the file ends early");
    std::memcpy(out, self.rest_.data(), count);
    self.rest_.remove_prefix(count);
  }

  /// Grey, BGR or BGRA of 8 or 16 bits. A grey that is said to be transparent stays as it is.
  void set_kind_of_pixels() {
    const int kind = png_get_color_type(png_, info_);
    const bool has_colours = (kind & PNG_COLOR_MASK_COLOR) != 0,
               has_alpha = (kind & PNG_COLOR_MASK_ALPHA) != 0;
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (has_colours && png_get_valid(png_, info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png_);
    if (kind == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    if (has_alpha && !has_colours) png_set_gray_to_rgb(png_);
    if (has_colours) png_set_bgr(png_);
  }

  static constexpr std::size_t kErrorBytes = 200;
  std::string_view rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  char error_[kErrorBytes] = "";
  bool lacks_end_ = false, has_pixels_ = false;
};

}  // namespace

DecodedImage decode_png(std::string_view bytes) {
  PngReader reader(bytes);
  const auto refused = [&]() -> DecodedImage {
    return {{},
            fmt::format("the PNG file is damaged and cannot be decoded ({}); copy it again", reader.error())};
  };
  if (!reader.read_header()) return refused();
  cv::Mat pixels(reader.height(), reader.width(), reader.type());
  std::vector<png_bytep> rows(static_cast<std::size_t>(pixels.rows));
  for (int y = 0; y < pixels.rows; ++y) rows[static_cast<std::size_t>(y)] = pixels.ptr(y);
  if (!reader.read_pixels(rows.data())) return refused();
  if (reader.lacks_end()) return {pixels, "the PNG file ends early; its pixels are all there and are used"};
  return {pixels, {}};
}

}  // namespace recon

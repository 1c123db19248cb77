#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace recon {

/// A grey source image arranged so that one 32-bit load brings the four pixels of a bilinear sample: element
/// (x, y) holds pixel (x, y) in its low byte and pixel (x, y + 1) in its high byte. One column more than the
/// image; beyond the border pixels repeat (their weight is zero).
class SampledImage {
 public:
  SampledImage() = default;
  explicit SampledImage(ImageView<const std::uint8_t> image);

  int width() const { return width_; }    ///< of the image
  int height() const { return height_; }  ///< of the image
  const std::uint16_t* data() const { return pairs_.row(0); }
  std::ptrdiff_t pitch() const { return pairs_.pitch(); }

  /// Bytes that the arrangement of a width x height image takes.
  static std::size_t bytes(int width, int height) {
    return static_cast<std::size_t>(padded_count<std::uint16_t>(width + 1)) *
           static_cast<std::size_t>(height) * 2;
  }

 private:
  int width_ = 0;
  int height_ = 0;
  Image<std::uint16_t> pairs_;
};

}  // namespace recon

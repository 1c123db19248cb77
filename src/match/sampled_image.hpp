#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace recon {

/// A grey source image laid out so that one 32-bit load fetches the four pixels of a bilinear sample: element
/// (x, y) holds pixel (x, y) in its low byte and pixel (x, y + 1) in its high byte. It has one column more
/// than the image; border pixels are repeated there (their weight is zero).
class SampledImage {
 public:
  SampledImage() = default;
  explicit SampledImage(ImageView<const std::uint8_t> image);

  int width() const { return width_; }    ///< of the image
  int height() const { return height_; }  ///< of the image
  const std::uint16_t* data() const { return pairs_.row(0); }
  std::ptrdiff_t pitch() const { return pairs_.pitch(); }

  /// Bytes of a sampled image of width x height pixels.
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

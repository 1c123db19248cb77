#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace recon {

/// Max sizes of images and maps from files, as in OpenCV's readers.
inline constexpr std::int64_t kMaxFileSide = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxImagePixels = std::int64_t{1} << 30;

/// Max bytes of an image file; decoders count them in an int.
inline constexpr std::uint64_t kMaxImageFileBytes = (std::uint64_t{1} << 31) - 1;

/// Width and height in pixels.
struct ImageSize {
  int width = 0;
  int height = 0;
  friend bool operator==(ImageSize a, ImageSize b) { return a.width == b.width && a.height == b.height; }
};

/// Whether both sides are in [1, kMaxFileSide] and the image has at most kMaxImagePixels pixels.
constexpr bool is_image_size(std::int64_t width, std::int64_t height) {
  return width > 0 && height > 0 && width <= kMaxFileSide && height <= kMaxFileSide &&
         width * height <= kMaxImagePixels;
}

/// "640x480".
inline std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

/// The rule for messages.
inline constexpr std::string_view kImageSizeRule =
    "sizes have to be positive, with at most 2^20 pixels a side and 2^30 in all";

}  // namespace recon

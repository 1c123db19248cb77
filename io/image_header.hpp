#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recon {

/// A size as a header states it: any number.
struct HeaderSize {
  std::uint64_t width = 0, height = 0;
};

inline bool has_size(const HeaderSize& size, int width, int height) {
  return size.width == static_cast<std::uint64_t>(width) && size.height == static_cast<std::uint64_t>(height);
}

/// "640x480".
inline std::string text_of(const HeaderSize& size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

template <class Pixels>
HeaderSize size_of(const Pixels& image) {
  return {static_cast<std::uint64_t>(image.width()), static_cast<std::uint64_t>(image.height())};
}

/// The size that the header of a BMP, PNM (PBM, PGM, PPM, PAM, PFM), WebP, JPEG 2000 or BigTIFF file states,
/// from the first bytes of the file; nothing for another file and where it is not among these bytes.
std::optional<HeaderSize> rare_header_size(std::string_view bytes);

}  // namespace recon

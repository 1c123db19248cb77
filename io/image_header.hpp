#pragma once

#include <optional>
#include <string_view>

#include "io/image_file.hpp"

namespace recon {

/// Width and height in the header of a PNG, JPEG or TIFF file, without validation; empty if `bytes` has
/// another format, or ends before the size. TIFF: the first image, classic TIFF (32-bit offsets) only.
struct HeaderSize {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
};
std::optional<HeaderSize> header_size(std::string_view bytes);

/// Whether `bytes` is a JPEG whose end-of-image marker is missing: decoders fill the missing part with grey.
bool is_truncated_jpeg(std::string_view bytes);

}  // namespace recon

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/image/image_header.hpp"

namespace recon {

/// The size that the header of a BMP, PNM (PBM, PGM, PPM, PAM, PFM), WebP, JPEG 2000 or BigTIFF file states,
/// from the first bytes of the file; nothing for another file and where it is not among these bytes.
std::optional<HeaderSize> rare_header_size(std::string_view bytes);

/// The size that a BMP or a binary PBM, PGM or PPM file has at least, by its header; 0 for others, and for
/// packed pixels.
std::uint64_t min_file_size(std::string_view bytes);

}  // namespace recon

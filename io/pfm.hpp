#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/content_hash.hpp"
#include "core/image.hpp"

namespace recon {

/// Reads a PFM file of one channel ("Pf"), either byte order; the magnitude of the scale is ignored, as in
/// Middlebury's tools. +inf and NaN in the file are unknown: NaN.
/// @throws InputError with file and byte if the header is invalid or does not match the file size
Image<float> read_pfm(const std::filesystem::path& path);
Image<float> parse_pfm(std::string_view bytes, const std::string& file);

/// Writes a little-endian PFM; unknown (NaN) becomes +inf, as in Middlebury 2014.
/// @throws OutputError
FileIdentity write_pfm(const std::filesystem::path& path, ImageView<const float> image);

}  // namespace recon

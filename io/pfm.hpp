#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/content_hash.hpp"
#include "core/image.hpp"

namespace recon {

/// Reads a PFM file of one channel ("Pf"), either byte order; the size of its scale is not applied, as
/// Middlebury's tools have it. +inf and NaN in the file are unknown: NaN.
/// @throws InputError with file and byte when the header is wrong or does not fit the size of the file
Image<float> read_pfm(const std::filesystem::path& path);
Image<float> parse_pfm(std::string_view bytes, const std::string& file);

/// Writes a little-endian PFM; unknown (NaN) becomes +inf, as Middlebury 2014 has it.
/// @throws OutputError
FileIdentity write_pfm(const std::filesystem::path& path, ImageView<const float> image);

}  // namespace recon

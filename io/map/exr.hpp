#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// What the header of an OpenEXR file says of a map.
struct ExrHeader {
  int width = 0, height = 0;          ///< of the data window
  std::vector<std::string> channels;  ///< of halves or floats, in the order of the file: that of their names
  std::size_t first_channel = 0;      ///< the byte at which the name of the first channel begins
};

/// The header of an OpenEXR file with one image of halves or floats, by lines or tiles.
/// @param bytes       the beginning of the file, with all of the header
/// @param file_bytes  of the whole file
/// @throws InputError with file and byte for damage, several or deep images, whole numbers, channels of
/// other sizes, and where the file is too short for its pixels
ExrHeader parse_exr_header(std::string_view bytes, std::uint64_t file_bytes, const std::string& file);

/// The numbers of an OpenEXR file with one channel whose name is a letter, such as Y, Z or R, or with the
/// same numbers in R, G and B, beside which A does not count. OpenCV decodes them, by a file of its own in
/// the folder for temporary files.
/// @throws InputError as parse_exr_header, for other channels, and where OpenCV reads no OpenEXR
Image<float> parse_exr(std::string_view bytes, const std::string& file);

}  // namespace recon

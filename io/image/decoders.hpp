#pragma once

#include <string>
#include <string_view>

#include "io/image/image_codecs.hpp"

namespace recon {

// OpenCV decodes with error handlers that print to standard error and keep the reason to themselves. These
// say what is wrong, and print nothing. The pixels are those of OpenCV, but for TIFFs, which it turns by
// their orientation.

/// A JPEG by libjpeg. What libjpeg repairs is used and said; a file that ends before its pixels do is
/// refused.
/// @throws std::bad_alloc
DecodedImage decode_jpeg(std::string_view bytes);

/// A PNG by libpng. One that lacks only what follows the pixels is used.
DecodedImage decode_png(std::string_view bytes);

/// A TIFF by libtiff, its first image: grey and colours of 16 bits as they are, all else in
/// 8 bits.
DecodedImage decode_tiff(std::string_view bytes);

}  // namespace recon

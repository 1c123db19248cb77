#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/content_hash.hpp"
#include "core/image.hpp"

namespace recon {

/// Width and height in pixels.
struct ImageSize {
  int width = 0;
  int height = 0;
  friend bool operator==(ImageSize a, ImageSize b) { return a.width == b.width && a.height == b.height; }
};

/// The pixels of an image file as they are stored (an EXIF orientation is not applied: calibrations speak of
/// the stored pixels), in 8-bit RGB. Grey becomes r = g = b, an alpha channel is dropped, 16 bits become
/// round(value / 257). Formats: what OpenCV reads, such as PNG, JPEG, TIFF.
/// @throws InputError with path and reason: absent, no image, damaged, truncated, too large, samples that are
/// not integers
Image<Rgb8> read_image(const std::filesystem::path& path);

/// The same with `white` of 65535, > 0, as the brightest level: of 16 bits round(255 value / white), at most
/// 255; of 8 bits what 257 times the value becomes.
Image<Rgb8> read_image(const std::filesystem::path& path, std::uint32_t white);

/// The same from memory; `file` is what messages call it.
Image<Rgb8> decode_image(std::string_view bytes, const std::string& file);

/// The same in grey: (299 r + 587 g + 114 b) / 1000, rounded.
Image<std::uint8_t> read_grey_image(const std::filesystem::path& path);

/// Grey pixels as deep as a file stores them: one of the two is empty.
struct StoredGrey {
  Image<std::uint8_t> of_8_bits;
  Image<std::uint16_t> of_16_bits;
};

/// The pixels in grey as `read_grey_image` has it, with the 16 bits of a file that has them.
/// @throws InputError as `read_image`
StoredGrey read_stored_grey(const std::filesystem::path& path);
StoredGrey decode_stored_grey(std::string_view bytes, const std::string& file);

/// The size of an image file; for PNG, JPEG and TIFF from its header alone.
/// @throws InputError as `read_image`; damage behind the header is not found
ImageSize image_size(const std::filesystem::path& path);

/// A 16-bit grey PNG, such as depth in millimetres with 0 for unknown.
/// @throws InputError with path and reason, also for any other kind of image
Image<std::uint16_t> read_png16(const std::filesystem::path& path);
FileIdentity write_png16(const std::filesystem::path& path, ImageView<const std::uint16_t> image);

/// Writes an image as PNG or, with quality 95, as JPEG: by the extension .png, .jpg or .jpeg.
/// @throws OutputError when it cannot be written; UsageError for another extension
FileIdentity write_image(const std::filesystem::path& path, ImageView<const Rgb8> image);
FileIdentity write_image(const std::filesystem::path& path, ImageView<const std::uint8_t> image);

}  // namespace recon

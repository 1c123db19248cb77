#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/content_hash.hpp"
#include "core/image.hpp"
#include "io/image_header.hpp"
#include "io/image_size.hpp"
#include "io/output_file.hpp"

namespace recon {

/// Width and height in pixels.
struct ImageSize {
  int width = 0;
  int height = 0;
  friend bool operator==(ImageSize a, ImageSize b) { return a.width == b.width && a.height == b.height; }
};

/// The extension of a file in lower case, such as ".png".
std::string lower_extension(const std::filesystem::path& path);

/// The image `stem` in `folder` with the extension of an image, .png first; empty if there is none.
std::filesystem::path find_image(const std::filesystem::path& folder, const std::string& stem);

/// The undecoded content of an image file.
/// @param check  called with the size that the header states, where it is known, before the rest is read; may
/// throw
/// @throws InputError as read_file, and for more than 2 GiB
std::string read_image_file(const std::filesystem::path& path,
                            const std::function<void(const HeaderSize& size)>& check = {});

/// Reads the pixels of an image file as stored (EXIF orientation is not applied: calibrations refer to the
/// stored pixels), in 8-bit RGB. Grey becomes r = g = b, an alpha channel is dropped. Formats: those of
/// OpenCV, such as PNG, JPEG, TIFF.
/// @param white  the white level, > 0: 16-bit values become round(255 value / white), at most 255; 8-bit
/// values are multiplied by 257 first
/// @throws InputError with path and reason: missing, not an image, damaged, truncated, too large, non-integer
/// samples
Image<Rgb8> read_image(const std::filesystem::path& path, std::uint32_t white = 65535);

/// The same from memory; `file` is the name in messages.
Image<Rgb8> decode_image(std::string_view bytes, const std::string& file, std::uint32_t white = 65535);

/// The same in grey: (299 r + 587 g + 114 b) / 1000, rounded.
Image<std::uint8_t> read_grey_image(const std::filesystem::path& path);

/// Grey pixels in the stored bit depth: one of the two is empty.
struct StoredGrey {
  Image<std::uint8_t> of_8_bits;
  Image<std::uint16_t> of_16_bits;
};

/// Reads grey pixels as `read_grey_image` does, but keeps 16-bit values.
/// @throws InputError as `read_image`
StoredGrey read_stored_grey(const std::filesystem::path& path);
StoredGrey decode_stored_grey(std::string_view bytes, const std::string& file);

/// A mask from memory: 0 where a pixel is to be ignored, that is where all its colours are 0 or it is fully
/// transparent, else 255. 16-bit values are not rounded first; `file` is the name in messages.
/// @throws InputError as `read_image`
Image<std::uint8_t> decode_mask(std::string_view bytes, const std::string& file);

/// The size of an image file; for PNG, JPEG and TIFF from its header alone.
/// @throws InputError as `read_image`; damage after the header is not detected
ImageSize image_size(const std::filesystem::path& path);

/// Reads a 16-bit grey PNG, such as depth in millimetres with 0 for unknown.
/// @throws InputError with path and reason, also for any other kind of image
Image<std::uint16_t> read_png16(const std::filesystem::path& path);
FileIdentity write_png16(const std::filesystem::path& path, ImageView<const std::uint16_t> image);

/// Writes an image as PNG or, with quality 95, as JPEG: by the extension .png, .jpg or .jpeg.
/// @throws OutputError if it cannot be written or has sides longer than its format allows; UsageError for
/// other extensions; OutOfMemory
FileIdentity write_image(const std::filesystem::path& path, ImageView<const Rgb8> image);
FileIdentity write_image(const std::filesystem::path& path, ImageView<const std::uint8_t> image);

/// The same image in a file that is complete but for `commit`.
AtomicFile image_file(const std::filesystem::path& path, ImageView<const Rgb8> image);
AtomicFile image_file(const std::filesystem::path& path, ImageView<const std::uint8_t> image);

/// Width and height in the header of an image file, without validation; empty if `bytes` has a format that is
/// neither PNG, JPEG, TIFF nor one of `rare_header_size`, or ends before the size. TIFF: the first image.
std::optional<HeaderSize> header_size(std::string_view bytes);

/// Whether `bytes` is a JPEG whose end-of-image marker is missing: decoders fill the missing part with grey.
bool is_truncated_jpeg(std::string_view bytes);

}  // namespace recon

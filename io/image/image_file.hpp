#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/content_hash.hpp"
#include "core/image.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_header.hpp"
#include "io/image/image_size.hpp"
#include "scene/scene.hpp"

namespace recon {

/// The extension of a file in lower case, such as ".png".
std::string lower_extension(const std::filesystem::path& path);

/// The image `stem` in `folder` with the extension of an image, .png first; empty if there is none.
std::filesystem::path find_image(const std::filesystem::path& folder, const std::string& stem);

/// Is called with the size that the header of an image file states, and the first bytes of the file.
using HeaderCheck = std::function<void(const HeaderSize& size, std::string_view beginning)>;

/// The undecoded content of an image file.
/// @param check  called before the rest is read, where the size is known; may throw
/// @throws InputError as read_file, and for more than 2 GiB
std::string read_image_file(const std::filesystem::path& path, const HeaderCheck& check = {});

/// The 16-bit values that become 0 and 255 in 8 bits; black < white.
struct SampleLevels {
  std::uint32_t white = 65535, black = 0;
  friend bool operator==(SampleLevels a, SampleLevels b) { return a.white == b.white && a.black == b.black; }
};

/// Reads the pixels of an image file as stored (EXIF orientation is not applied: calibrations refer to the
/// stored pixels), in 8-bit RGB. Grey becomes r = g = b, an alpha channel is dropped. Formats: those of
/// OpenCV, such as PNG, JPEG, TIFF.
/// @param levels  of 16-bit values, which become round(255 (value - black) / (white - black)), in [0, 255];
/// 8-bit values stay as they are
/// @param damage  set to what is wrong with a file that is used all the same, empty where nothing is; null: a
/// warning says it
/// @throws InputError with path and reason: missing, not an image, damaged, truncated, too large, non-integer
/// samples
Image<Rgb8> read_image(const std::filesystem::path& path, SampleLevels levels = {},
                       std::string* damage = nullptr);

/// The same from memory; `file` is the name in messages.
Image<Rgb8> decode_image(std::string_view bytes, const std::string& file, SampleLevels levels = {},
                         std::string* damage = nullptr);

/// The range of the 16-bit values of images; empty: of 8-bit images.
struct SampleRange {
  std::uint32_t min = 65535, max = 0;
  bool grey = true;  ///< no image has colours

  bool empty() const { return min > max; }
  void include(const SampleRange& other);
};

/// What is white in images of a range of values, and of a number of bits from 8 to 16 in 16: the largest
/// number of as few bits as hold all values. Black is 0, except for grey images whose values all lie far
/// above it, such as those of thermal cameras: of these the range is spread.
SampleLevels levels_of(const SampleRange& range);

/// What has to be known of a photo that `has_plain_samples` does not vouch for.
struct PhotoSamples {
  SampleRange range;
  Image<std::uint8_t> mask;      ///< 0 where it is fully transparent, else 255; empty if it is so nowhere
  bool all_transparent = false;  ///< it is so everywhere; `mask` is empty then
};

/// Whether a file is a JPEG by its first bytes: then it is not read to learn that its samples are plain.
bool is_plain_photo(const std::filesystem::path& path);

/// @throws InputError as `read_image`
PhotoSamples inspect_photo(std::string_view bytes, const std::string& file);

/// The same in grey: (299 r + 587 g + 114 b) / 1000, rounded.
Image<std::uint8_t> read_grey_image(const std::filesystem::path& path);

/// Grey pixels in the stored bit depth: one of the two is empty.
struct StoredGrey {
  Image<std::uint8_t> of_8_bits;
  Image<std::uint16_t> of_16_bits;
};

/// Reads grey pixels as `read_grey_image` does, but keeps 16-bit values.
/// @param damage  as of `read_image`
/// @throws InputError as `read_image`
StoredGrey read_stored_grey(const std::filesystem::path& path, std::string* damage = nullptr);
StoredGrey decode_stored_grey(std::string_view bytes, const std::string& file, std::string* damage = nullptr);

/// A mask from memory: 0 where a pixel is to be ignored, by the kind of the mask, else 255. 16-bit values are
/// not rounded first; `file` is the name in messages.
/// @param damage  as of `read_image`
/// @throws InputError as `read_image`
Image<std::uint8_t> decode_mask(std::string_view bytes, const std::string& file,
                                MaskKind kind = MaskKind::kBlack, std::string* damage = nullptr);

/// The size of an image file; for PNG, JPEG and TIFF from its header alone.
/// @throws InputError as `read_image`; damage after the header is not detected
ImageSize image_size(const std::filesystem::path& path);

/// Reads a 16-bit grey PNG, such as depth in millimetres with 0 for unknown.
/// @throws InputError with path and reason, also for any other kind of image
Image<std::uint16_t> read_png16(const std::filesystem::path& path);
FileIdentity write_png16(const std::filesystem::path& path, ImageView<const std::uint16_t> image);
/// The same of red, green and blue.
FileIdentity write_png16(const std::filesystem::path& path, ImageView<const Vec3<std::uint16_t>> image);

/// Writes an image as PNG or, with quality 95, as JPEG: by the extension .png, .jpg or .jpeg.
/// @throws OutputError if it cannot be written or has sides longer than its format allows; UsageError for
/// other extensions; OutOfMemory
FileIdentity write_image(const std::filesystem::path& path, ImageView<const Rgb8> image);
FileIdentity write_image(const std::filesystem::path& path, ImageView<const std::uint8_t> image);

/// The same image in a file that is complete but for `commit`.
AtomicFile image_file(const std::filesystem::path& path, ImageView<const Rgb8> image);
AtomicFile image_file(const std::filesystem::path& path, ImageView<const std::uint8_t> image);

}  // namespace recon

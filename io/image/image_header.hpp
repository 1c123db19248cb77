#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recon {

/// A size as a header states it: any number.
struct HeaderSize {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
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

/// Width and height in the header of an image file, without validation; empty if `bytes` has a format that is
/// neither PNG, JPEG, TIFF nor one of `rare_header_size`, or ends before the size. TIFF: the first image.
std::optional<HeaderSize> header_size(std::string_view bytes);

/// Whether the header of an image file shows that it has samples of at most 8 bits and no transparency: then
/// its pixels are known without knowing those of other photos. False also where that is not known.
bool has_plain_samples(std::string_view bytes);

/// The grey that is transparent in a grey PNG without an alpha channel, in the samples that decoding gives;
/// empty if none is, or in other files.
std::optional<std::uint16_t> transparent_grey(std::string_view bytes);

/// How viewers turn the pixels of a JPEG, PNG or TIFF file by its EXIF orientation, 1 to 8; 1: not, or there
/// is none. From 5 on, width and height change places.
int exif_orientation(std::string_view bytes);

/// What a file is by its first bytes.
inline bool is_jpeg(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF");
}
inline bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1A\n");
}
inline bool is_exr(std::string_view bytes) {
  return bytes.starts_with("v/1\x01");
}
inline bool is_tiff(std::string_view bytes) {
  using namespace std::string_view_literals;
  return bytes.starts_with("II*\0"sv) || bytes.starts_with("MM\0*"sv) || bytes.starts_with("II+\0"sv) ||
         bytes.starts_with("MM\0+"sv);
}

/// The size that the header of a BMP, PNM (PBM, PGM, PPM, PAM, PFM), WebP, JPEG 2000 or BigTIFF file states,
/// from the first bytes of the file; nothing for another file and where it is not among these bytes.
std::optional<HeaderSize> rare_header_size(std::string_view bytes);

/// The size that a BMP or a binary PBM, PGM or PPM file has at least, by its header; 0 for others, and for
/// packed pixels.
std::uint64_t min_file_size(std::string_view bytes);

}  // namespace recon

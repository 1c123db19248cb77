#include "io/image/image_header.hpp"

#include <algorithm>
#include <bit>
#include <cctype>

#include "io/file/byte_reader.hpp"

namespace recon {

namespace {

using namespace std::string_view_literals;

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

std::optional<HeaderSize> png_size(std::string_view bytes) {
  // Signature, then the IHDR chunk: length, name, width, height.
  if (bytes.size() < 24 || bytes.substr(12, 4) != "IHDR") return {};
  return HeaderSize{load_number<std::uint32_t>(&bytes[16], std::endian::big),
                    load_number<std::uint32_t>(&bytes[20], std::endian::big)};
}

/// The data of the first chunk of a PNG with a name, before the pixels; empty if there is none.
/// @param complete  set: whether the chunks before the pixels were all there
std::string_view png_chunk(std::string_view bytes, std::string_view name, bool& complete) {
  complete = false;
  for (std::size_t at = 8; at + 8 <= bytes.size();) {
    const std::size_t length = load_number<std::uint32_t>(&bytes[at], std::endian::big);
    const std::string_view here = bytes.substr(at + 4, 4);
    complete = here == "IDAT" || here == "IEND";
    if (complete) return {};
    if (length > bytes.size() - at - 8) return {};
    if (here == name) return bytes.substr(at + 8, length);
    at += 12 + length;
  }
  return {};
}

bool is_plain_png(std::string_view bytes) {
  constexpr std::uint8_t kAlphaBit = 4, kMaxBits = 8;
  if (bytes.size() < 26 || byte_at(bytes, 24) > kMaxBits || (byte_at(bytes, 25) & kAlphaBit) != 0)
    return false;
  bool complete = false;
  return png_chunk(bytes, "tRNS", complete).empty() && complete;
}

/// Calls `visit(marker, payload)` for the JPEG segments before the pixels, until it returns true; returns the
/// offset after the last visited segment.
template <class Visit>
std::size_t visit_jpeg_segments(std::string_view bytes, const Visit& visit) {
  std::size_t at = 2;
  while (at + 4 <= bytes.size() && byte_at(bytes, at) == 0xFF) {
    const std::uint8_t marker = byte_at(bytes, at + 1);
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    const std::size_t length = load_number<std::uint16_t>(&bytes[at + 2], std::endian::big);
    if (length < 2 || at + 2 + length > bytes.size()) return bytes.size();
    const bool found = visit(marker, bytes.substr(at + 4, length - 2));
    at += 2 + length;
    if (found) break;
  }
  return at;
}

bool is_start_of_frame(std::uint8_t marker) {
  // C0 to CF except the tables C4 (DHT) and CC (DAC) and the extension C8.
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

std::optional<HeaderSize> jpeg_size(std::string_view bytes) {
  std::optional<HeaderSize> size;
  visit_jpeg_segments(bytes, [&](std::uint8_t marker, std::string_view payload) {
    if (!is_start_of_frame(marker) || payload.size() < 5) return false;
    size = HeaderSize{load_number<std::uint16_t>(&payload[3], std::endian::big),
                      load_number<std::uint16_t>(&payload[1], std::endian::big)};
    return true;
  });
  return size;
}

/// Calls `visit(tag, value)` for the entries of the first directory of a TIFF, the value being the first of
/// several; values elsewhere in the file that are not there are left out. False if an entry is not there.
template <class Visit>
bool visit_tiff_entries(std::string_view bytes, const Visit& visit) {
  if (bytes.size() < 8) return false;
  const std::endian order = bytes[0] == 'I' ? std::endian::little : std::endian::big;
  const std::size_t directory = load_number<std::uint32_t>(&bytes[4], order);
  if (directory + 2 > bytes.size()) return false;
  const std::size_t entries = load_number<std::uint16_t>(&bytes[directory], order);
  for (std::size_t i = 0; i < entries; ++i) {
    constexpr std::uint16_t kShort = 3;
    const std::size_t entry = directory + 2 + 12 * i;
    if (entry + 12 > bytes.size()) return false;
    const auto tag = load_number<std::uint16_t>(&bytes[entry], order);
    const auto type = load_number<std::uint16_t>(&bytes[entry + 2], order);
    const auto count = load_number<std::uint32_t>(&bytes[entry + 4], order);
    std::size_t value = entry + 8;
    if (type == kShort && count > 2) value = load_number<std::uint32_t>(&bytes[entry + 8], order);
    if (value + 4 > bytes.size()) continue;
    visit(tag, type == kShort ? load_number<std::uint16_t>(&bytes[value], order)
                              : load_number<std::uint32_t>(&bytes[value], order));
  }
  return true;
}

std::optional<HeaderSize> tiff_size(std::string_view bytes) {
  HeaderSize size;
  const bool complete = visit_tiff_entries(bytes, [&](std::uint16_t tag, std::uint64_t value) {
    // Decoders use the first of duplicate tags.
    if (tag == 256 && size.width == 0) size.width = value;
    if (tag == 257 && size.height == 0) size.height = value;
  });
  if (!complete || size.width == 0 || size.height == 0) return {};
  return size;
}

/// One or three samples of at most 8 bits a pixel.
bool is_plain_tiff(std::string_view bytes) {
  std::uint64_t bits = 0, samples = 1;
  const bool complete = visit_tiff_entries(bytes, [&](std::uint16_t tag, std::uint64_t value) {
    if (tag == 258) bits = std::max(bits, value);
    if (tag == 277) samples = value;
  });
  return complete && bits >= 1 && bits <= 8 && (samples == 1 || samples == 3);
}

/// The number behind the sizes of a PGM or PPM; 0 where it is not there.
std::uint32_t max_of_pnm(std::string_view bytes) {
  std::uint32_t value = 0;
  std::size_t at = 2;
  for (int number = 0; number < 3; ++number) {
    while (at < bytes.size() && (std::isspace(byte_at(bytes, at)) != 0 || bytes[at] == '#'))
      at = bytes[at] == '#' ? std::min(bytes.find('\n', at), bytes.size()) : at + 1;
    const std::size_t begin = at;
    for (value = 0; at < bytes.size() && at < begin + 7 && std::isdigit(byte_at(bytes, at)) != 0; ++at)
      value = 10 * value + static_cast<std::uint32_t>(bytes[at] - '0');
  }
  return value;
}

bool is_plain_pnm(std::string_view bytes) {
  const std::uint32_t max = max_of_pnm(bytes);
  return max > 0 && max <= 255;
}

/// The orientation in the first directory of a TIFF, such as EXIF data are.
int orientation_of(std::string_view tiff) {
  int orientation = 1;
  if (is_tiff(tiff))
    visit_tiff_entries(tiff, [&](std::uint16_t tag, std::uint64_t value) {
      if (tag == 274 && value >= 1 && value <= 8) orientation = static_cast<int>(value);
    });
  return orientation;
}

}  // namespace

std::optional<HeaderSize> header_size(std::string_view bytes) {
  if (is_png(bytes)) return png_size(bytes);
  if (is_jpeg(bytes)) return jpeg_size(bytes);
  if (bytes.starts_with("II*\0"sv) || bytes.starts_with("MM\0*"sv)) return tiff_size(bytes);
  return rare_header_size(bytes);
}

bool has_plain_samples(std::string_view bytes) {
  if (is_jpeg(bytes)) return true;
  if (is_png(bytes)) return is_plain_png(bytes);
  if (bytes.starts_with("II*\0"sv) || bytes.starts_with("MM\0*"sv)) return is_plain_tiff(bytes);
  if (bytes.starts_with("P5"sv) || bytes.starts_with("P6"sv)) return is_plain_pnm(bytes);
  constexpr std::size_t kBitsOfBmp = 28;
  return bytes.starts_with("BM"sv) && bytes.size() > kBitsOfBmp && byte_at(bytes, kBitsOfBmp) != 32;
}

std::optional<std::uint16_t> transparent_grey(std::string_view bytes) {
  if (!is_png(bytes) || bytes.size() < 26 || byte_at(bytes, 25) != 0) return std::nullopt;
  bool complete = false;
  const std::string_view key = png_chunk(bytes, "tRNS", complete);
  if (key.size() < 2) return std::nullopt;
  const auto grey = load_number<std::uint16_t>(key.data(), std::endian::big);
  const int bits = byte_at(bytes, 24);  // fewer than 8 are spread to 8
  return bits == 1 || bits == 2 || bits == 4 ? static_cast<std::uint16_t>(grey * 255 / ((1 << bits) - 1))
                                             : grey;
}

int exif_orientation(std::string_view bytes) {
  if (is_tiff(bytes)) return orientation_of(bytes);
  int orientation = 1;
  bool complete = false;
  if (is_png(bytes)) return orientation_of(png_chunk(bytes, "eXIf", complete));
  if (is_jpeg(bytes))
    visit_jpeg_segments(bytes, [&](std::uint8_t marker, std::string_view payload) {
      constexpr std::uint8_t kApp1 = 0xE1, kScan = 0xDA;
      const bool exif = marker == kApp1 && payload.starts_with("Exif\0\0"sv);
      if (exif) orientation = orientation_of(payload.substr(6));
      return exif || marker == kScan;
    });
  return orientation;
}

}  // namespace recon

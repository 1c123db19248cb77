#include "io/image/image_header.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "io/file/byte_reader.hpp"

namespace recon {

namespace {

using namespace std::string_view_literals;

std::optional<HeaderSize> bmp_size(std::string_view bytes) {
  if (bytes.size() < 26) return {};
  constexpr std::uint32_t kOldHeader = 12;  // of OS/2, with sides of 16 bits
  if (load_number<std::uint32_t>(&bytes[14]) == kOldHeader)
    return HeaderSize{load_number<std::uint16_t>(&bytes[18]), load_number<std::uint16_t>(&bytes[20])};
  const std::int64_t height = load_number<std::int32_t>(&bytes[22]);  // negative: from the top
  return HeaderSize{load_number<std::uint32_t>(&bytes[18]), static_cast<std::uint64_t>(std::abs(height))};
}

/// Reads the words of a text header, without comments.
class HeaderWords {
 public:
  explicit HeaderWords(std::string_view bytes) : rest_(bytes) {}

  std::string_view next() {
    constexpr std::string_view kBlanks = " \t\r\n\v\f";
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
      if (!rest_.starts_with('#')) break;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
    const std::string_view word = rest_.substr(0, rest_.find_first_of(kBlanks));
    rest_.remove_prefix(word.size());
    return word;
  }

  std::optional<std::uint64_t> number() {
    const std::string_view word = next();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return {};
    return value;
  }

  std::size_t bytes_left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

std::optional<HeaderSize> pam_size(HeaderWords words) {
  std::optional<std::uint64_t> width, height;
  for (std::string_view key = words.next(); !key.empty() && key != "ENDHDR"; key = words.next()) {
    if (key == "WIDTH") width = words.number();
    if (key == "HEIGHT") height = words.number();
  }
  if (!width || !height) return {};
  return HeaderSize{*width, *height};
}

std::optional<HeaderSize> pnm_size(std::string_view bytes) {
  HeaderWords words(bytes);
  if (words.next() == "P7") return pam_size(words);
  const auto width = words.number(), height = words.number();
  if (!width || !height) return {};
  return HeaderSize{*width, *height};
}

/// An integer of 24 bits.
std::uint64_t load_24_bits(const char* bytes) {
  return load_number<std::uint16_t>(bytes) | std::uint64_t{static_cast<std::uint8_t>(bytes[2])} << 16;
}

/// Of rows that end at a multiple of four bytes.
std::uint64_t bmp_bytes(std::string_view bytes) {
  constexpr std::uint32_t kNewHeader = 40, kPlain = 0, kBitFields = 3;
  if (bytes.size() < 34 || load_number<std::uint32_t>(&bytes[14]) < kNewHeader) return 0;
  const auto packing = load_number<std::uint32_t>(&bytes[30]);
  if (packing != kPlain && packing != kBitFields) return 0;
  const HeaderSize size = *bmp_size(bytes);
  const std::uint64_t row = (size.width * load_number<std::uint16_t>(&bytes[28]) + 31) / 32 * 4;
  return load_number<std::uint32_t>(&bytes[10]) + row * size.height;
}

std::optional<HeaderSize> webp_size(std::string_view bytes) {
  if (bytes.size() < 30) return {};
  constexpr std::uint32_t kSide = 0x3FFF;  // sides of 14 bits
  const std::string_view kind = bytes.substr(12, 4);
  if (kind == "VP8 ")
    return HeaderSize{load_number<std::uint16_t>(&bytes[26]) & kSide,
                      load_number<std::uint16_t>(&bytes[28]) & kSide};
  if (kind == "VP8L") {
    const auto sides = load_number<std::uint32_t>(&bytes[21]);
    return HeaderSize{(sides & kSide) + 1, (sides >> 14 & kSide) + 1};
  }
  if (kind == "VP8X") return HeaderSize{load_24_bits(&bytes[24]) + 1, load_24_bits(&bytes[27]) + 1};
  return {};
}

std::optional<HeaderSize> jpeg2000_size(std::string_view bytes) {
  constexpr std::string_view kName = "ihdr";
  const std::size_t at = bytes.substr(0, 256).find(kName);
  if (at == std::string_view::npos || at + 12 > bytes.size()) return {};
  return HeaderSize{load_number<std::uint32_t>(&bytes[at + 8], std::endian::big),
                    load_number<std::uint32_t>(&bytes[at + 4], std::endian::big)};
}

/// Of pixels that follow the header after one blank.
std::uint64_t pnm_bytes(std::string_view bytes) {
  HeaderWords words(bytes);
  const char kind = words.next().back();
  const auto width = words.number(), height = words.number(), max = kind == '4' ? 1 : words.number();
  if (!width || !height || !max) return 0;
  const std::uint64_t row =
      kind == '4' ? (*width + 7) / 8 : *width * (kind == '6' ? 3 : 1) * (*max > 255 ? 2 : 1);
  return bytes.size() - words.bytes_left() + 1 + row * *height;
}

std::optional<HeaderSize> big_tiff_size(std::string_view bytes, std::endian order) {
  if (bytes.size() < 16) return {};
  const auto directory = load_number<std::uint64_t>(&bytes[8], order);
  if (directory > bytes.size() || bytes.size() - directory < 8) return {};
  HeaderSize size;
  constexpr std::size_t kEntry = 20;
  for (std::size_t entry = directory + 8; entry + kEntry <= bytes.size(); entry += kEntry) {
    const auto tag = load_number<std::uint16_t>(&bytes[entry], order);
    const auto type = load_number<std::uint16_t>(&bytes[entry + 2], order);
    const char* const at = &bytes[entry + 12];
    const std::uint64_t value = type == 3   ? load_number<std::uint16_t>(at, order)
                                : type == 4 ? load_number<std::uint32_t>(at, order)
                                            : load_number<std::uint64_t>(at, order);
    // Decoders use the first of duplicate tags.
    if (tag == 256 && size.width == 0) size.width = value;
    if (tag == 257 && size.height == 0) size.height = value;
    if (size.width != 0 && size.height != 0) return size;
  }
  return {};
}

}  // namespace

std::uint64_t min_file_size(std::string_view bytes) {
  if (bytes.starts_with("BM"sv)) return bmp_bytes(bytes);
  if (bytes.starts_with("P4"sv) || bytes.starts_with("P5"sv) || bytes.starts_with("P6"sv))
    return pnm_bytes(bytes);
  return 0;
}

std::optional<HeaderSize> rare_header_size(std::string_view bytes) {
  if (bytes.starts_with("BM"sv)) return bmp_size(bytes);
  if (bytes.starts_with("RIFF"sv) && bytes.size() > 12 && bytes.substr(8, 4) == "WEBP")
    return webp_size(bytes);
  if (bytes.starts_with("\0\0\0\x0CjP  "sv)) return jpeg2000_size(bytes);
  if (bytes.starts_with("II+\0"sv)) return big_tiff_size(bytes, std::endian::little);
  if (bytes.starts_with("MM\0+"sv)) return big_tiff_size(bytes, std::endian::big);
  constexpr std::string_view kPnmKinds = "1234567Ff";
  if (bytes.size() > 2 && bytes[0] == 'P' && kPnmKinds.find(bytes[1]) != std::string_view::npos)
    return pnm_size(bytes);
  return {};
}

namespace {

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

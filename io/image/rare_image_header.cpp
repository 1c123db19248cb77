#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

#include "io/file/byte_reader.hpp"
#include "io/image/image_header.hpp"

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

}  // namespace recon

#include "io/image_header.hpp"

#include <bit>

#include "io/byte_reader.hpp"

namespace recon {
namespace {

using namespace std::string_view_literals;

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

bool is_jpeg(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF"sv);
}

std::optional<HeaderSize> png_size(std::string_view bytes) {
  // Signature, then the IHDR chunk: length, name, width, height.
  if (bytes.size() < 24 || bytes.substr(12, 4) != "IHDR") return {};
  return HeaderSize{load_number<std::uint32_t>(&bytes[16], std::endian::big),
                    load_number<std::uint32_t>(&bytes[20], std::endian::big)};
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

std::optional<HeaderSize> tiff_size(std::string_view bytes, std::endian order) {
  const std::size_t directory = load_number<std::uint32_t>(&bytes[4], order);
  if (directory + 2 > bytes.size()) return {};
  const std::size_t entries = load_number<std::uint16_t>(&bytes[directory], order);
  HeaderSize size;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (entry + 12 > bytes.size()) return {};
    const auto tag = load_number<std::uint16_t>(&bytes[entry], order);
    const auto type = load_number<std::uint16_t>(&bytes[entry + 2], order);
    const std::uint64_t value = type == 3 ? load_number<std::uint16_t>(&bytes[entry + 8], order)
                                          : load_number<std::uint32_t>(&bytes[entry + 8], order);
    // Decoders use the first of duplicate tags.
    if (tag == 256 && size.width == 0) size.width = value;
    if (tag == 257 && size.height == 0) size.height = value;
  }
  if (size.width == 0 || size.height == 0) return {};
  return size;
}

}  // namespace

std::optional<HeaderSize> header_size(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1A\n"sv)) return png_size(bytes);
  if (is_jpeg(bytes)) return jpeg_size(bytes);
  if (bytes.size() < 8) return {};
  if (bytes.starts_with("II*\0"sv)) return tiff_size(bytes, std::endian::little);
  if (bytes.starts_with("MM\0*"sv)) return tiff_size(bytes, std::endian::big);
  return {};
}

bool is_truncated_jpeg(std::string_view bytes) {
  if (!is_jpeg(bytes)) return false;
  // After the first start-of-scan marker (DA), FF D9 can only be the end of the image: FF is escaped in coded
  // data.
  const std::size_t pixels =
      visit_jpeg_segments(bytes, [](std::uint8_t marker, std::string_view) { return marker == 0xDA; });
  return bytes.find("\xFF\xD9"sv, pixels) == std::string_view::npos;
}

}  // namespace recon

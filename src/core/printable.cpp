#include "core/printable.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace recon {

namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

/// Bytes of the character of UTF-8 at the beginning of `text`; 1 where there is none.
std::size_t character_bytes(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  if (bytes > text.size() || first > 0xF4) return 1;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte_at(text, i) & 0xC0) != 0x80) return 1;
  return bytes;
}

/// Whether a character, or a byte that is part of none, is a control character.
bool is_control(std::string_view character) {
  const std::uint8_t first = byte_at(character, 0);
  if (character.size() == 2) return first == 0xC2 && byte_at(character, 1) < 0xA0;
  return character.size() == 1 && (first < 0x20 || (first >= 0x7F && first < 0xA0));
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_bytes(text));
    if (is_control(character) && kept.find(character) == std::string_view::npos)
      fmt::format_to(std::back_inserter(result), "\\x{:02X}", byte_at(character, character.size() - 1));
    else
      result += character;
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace recon

#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "core/utf8.hpp"

namespace recon {

namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
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
    const std::string_view character = text.substr(0, std::max<std::size_t>(utf8_character(text), 1));
    if (is_control(character) && kept.find(character) == std::string_view::npos)
      fmt::format_to(std::back_inserter(result), "\\x{:02X}", byte_at(character, character.size() - 1));
    else
      result += character;
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace recon

#include "core/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace recon {

std::size_t utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool no_character = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || no_character ? 0 : bytes;
}

std::size_t utf8_prefix(std::string_view text) {
  std::size_t prefix = 0;
  while (prefix < text.size()) {
    const std::size_t bytes = utf8_character(text.substr(prefix));
    if (bytes == 0) break;
    prefix += bytes;
  }
  return prefix;
}

std::size_t utf8_length(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(std::max<std::size_t>(utf8_character(text), 1));
  return count;
}

std::string with_escapes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t prefix = utf8_prefix(text);
    out += text.substr(0, prefix);
    text.remove_prefix(prefix);
    if (text.empty()) break;
    out += fmt::format("\\x{:02X}", static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
  return out;
}

std::string ascii_skeleton(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      out += text[i];
      continue;
    }
    // A combining mark, U+0300 to U+036F, belongs to the letter before it.
    const bool begins_mark = byte == 0xCC || byte == 0xCD;
    if (begins_mark && !out.empty() && i > 0 && static_cast<unsigned char>(text[i - 1]) < 0x80)
      out.pop_back();
  }
  return out;
}

}  // namespace recon

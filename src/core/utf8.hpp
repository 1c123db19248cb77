#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recon {

/// Bytes of the character at the beginning of a text that is not empty; 0 where it is not UTF-8.
std::size_t utf8_character(std::string_view text);

/// Bytes of the longest beginning of a text that is UTF-8: all of them where it is.
std::size_t utf8_prefix(std::string_view text);

/// Characters of a text; each byte that is not UTF-8 is one.
std::size_t utf8_length(std::string_view text);

inline bool is_utf8(std::string_view text) {
  return utf8_prefix(text) == text.size();
}

/// A text for a message: bytes that are not UTF-8 as \xE9.
std::string with_escapes(std::string_view text);

/// A text without the letters that are not of ASCII: what a name has left in every encoding, also where a
/// letter and its accent are two characters.
std::string ascii_skeleton(std::string_view text);

}  // namespace recon

#pragma once

#include <string>
#include <string_view>

namespace recon {

/// A text for a terminal or a log: control characters, which names of files may have and which a terminal
/// would obey, become "\x1B" and so on. These are bytes below 0x20, 0x7F, and 0x80 to 0x9F as characters of
/// UTF-8 or as bytes that are part of none; everything else stays.
/// @param kept  control characters that stay too, such as "\n" in a text of several lines
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace recon

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace recon {

/// A text for a terminal or a log: control characters, which names of files may have and which a terminal
/// would obey, become "\x1B" and so on. These are bytes below 0x20, 0x7F, and 0x80 to 0x9F as characters of
/// UTF-8 or as bytes that are part of none; everything else stays.
/// @param kept  control characters that stay too, such as "\n" in a text of several lines
std::string printable(std::string_view text, std::string_view kept = {});

/// Lines of at most `columns` characters, all but the first one after `indent` spaces. They end at spaces,
/// which stay where they are inside a line; a longer word, such as a path, has a line of its own, without
/// the indent where it needs the columns.
/// @param column  at which the text begins
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent, std::size_t columns);

/// Each of some whole lines in lines of a terminal; what follows from a line is indented by two more than it.
std::string wrapped_lines(std::string_view text, std::size_t columns);

struct TableColumn {
  std::string head;
  bool is_text = false;  ///< begins at the left; numbers end at the right
};

/// A table for people, each column as wide as its longest cell. Where it does not fit into a terminal, a
/// first cell that is too long has a line of its own, and columns that do not fit beside each other follow in
/// further tables, which begin with the first column too and have no rows without cells.
/// @param columns  of the table, at least one
/// @param rows     each with a cell for each column; a cell may be empty
/// @param width    of the terminal, characters; nothing: any
std::string text_table(const std::vector<TableColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows, std::optional<std::size_t> width);

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

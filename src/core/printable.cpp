#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "core/error.hpp"

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

std::string wrapped(std::string_view text, std::size_t column, std::size_t indent, std::size_t columns) {
  std::string result;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    const std::string_view word = text.substr(begin, text.find(' ', begin) - begin);
    const std::size_t length = utf8_length(word), spaces = result.empty() ? 0 : begin;
    if (column > indent && column + spaces + length > columns) {
      const std::size_t hanging = indent + length > columns ? 0 : indent;
      result += "\n" + std::string(hanging, ' ');
      column = hanging;
    } else {
      result.append(spaces, ' ');
      column += spaces;
    }
    result += word;
    column += length;
    text.remove_prefix(begin + word.size());
  }
  return result + "\n";
}

std::string wrapped_lines(std::string_view text, std::size_t columns) {
  constexpr std::size_t kIndent = 2;
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    result.append(begin, ' ');
    result += wrapped(line.substr(begin), begin, begin + kIndent, columns);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return result;
}

namespace {

constexpr std::size_t kBetween = 2;  ///< spaces

using Row = std::vector<std::string>;

/// Columns beside each other, the first one of all and [begin, end).
struct Block {
  std::size_t begin = 1, end = 1;
  std::size_t first_width = 0;  ///< that the first column may have
};

std::vector<std::size_t> widths_of(const std::vector<TableColumn>& columns, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(utf8_length(columns[i].head));
    for (const Row& row : rows) widths[i] = std::max(widths[i], utf8_length(row[i]));
  }
  return widths;
}

/// At least a part of the first column is beside the others, and one of these in each block.
std::vector<Block> blocks_of(const std::vector<std::size_t>& widths, std::optional<std::size_t> width) {
  if (!width) return {{1, widths.size(), widths[0]}};
  constexpr std::size_t kPart = 5;
  const std::size_t least = std::min(widths[0], *width / kPart);
  std::vector<Block> blocks;
  for (std::size_t next = 1; next < widths.size() || blocks.empty();) {
    Block block{next, next, 0};
    std::size_t others = 0;
    for (; next < widths.size(); ++next) {
      const std::size_t more = kBetween + widths[next];
      if (next > block.begin && least + others + more > *width) break;
      others += more;
    }
    block.end = next;
    block.first_width = std::min(widths[0], std::max(least, *width - std::min(others, *width)));
    blocks.push_back(block);
  }
  return blocks;
}

std::string padding(const std::string& cell, std::size_t width) {
  return std::string(width - std::min(width, utf8_length(cell)), ' ');
}

bool has_cells(const Row& row, const Block& block) {
  for (std::size_t i = block.begin; i < block.end; ++i)
    if (!row[i].empty()) return true;
  return false;
}

std::string line_of(const Row& row, const std::vector<TableColumn>& columns,
                    const std::vector<std::size_t>& widths, const Block& block) {
  std::string line = row[0] + padding(row[0], block.first_width), above;
  if (block.begin < block.end && utf8_length(row[0]) > block.first_width) {
    above = row[0] + "\n";
    line = std::string(block.first_width, ' ');
  }
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const std::string spaces = padding(row[i], widths[i]);
    line += std::string(kBetween, ' ') + (columns[i].is_text ? row[i] + spaces : spaces + row[i]);
  }
  return above + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string text_table(const std::vector<TableColumn>& columns, const std::vector<Row>& rows,
                       std::optional<std::size_t> width) {
  EXPECTS(!columns.empty());
  Row heads;
  for (const TableColumn& column : columns) heads.push_back(column.head);
  for (const Row& row : rows) EXPECTS(row.size() == columns.size());
  const std::vector<std::size_t> widths = widths_of(columns, rows);
  std::string text;
  for (const Block& block : blocks_of(widths, width)) {
    if (!text.empty()) text += "\n";
    text += line_of(heads, columns, widths, block);
    for (const Row& row : rows)
      if (block.begin == 1 || has_cells(row, block)) text += line_of(row, columns, widths, block);
  }
  return text;
}

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

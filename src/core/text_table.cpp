#include "core/text_table.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace recon {

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

}  // namespace recon

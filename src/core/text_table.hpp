#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace recon {

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

}  // namespace recon

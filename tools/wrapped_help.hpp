#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <sstream>
#include <string>

#include "core/program.hpp"

namespace recon {

/// Lines of at most `columns`, all but the first one after `indent` spaces.
/// @param column  at which the text begins
inline std::string wrapped(const std::string& text, std::size_t column, std::size_t indent,
                           std::size_t columns) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word; column += word.size()) {
    if (column > indent && column + 1 + word.size() > columns) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += " ";
      ++column;
    }
    result += word;
  }
  return result + "\n";
}

/// Help of CLI11 in lines that fit the terminal. Set it before subcommands are added.
class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
    std::string text;
    for (std::string line; std::getline(lines, line);) text += fitting(line);
    return text;
  }

 private:
  /// A line whose description begins at the width of a column, wrapped below it.
  std::string fitting(const std::string& line) const {
    const auto columns = static_cast<std::size_t>(terminal_columns());
    if (line.size() <= columns) return line + "\n";
    const std::size_t start = line.starts_with(' ') ? get_column_width() : 0;
    return line.substr(0, start) + wrapped(line.substr(start), start, start, columns);
  }
};

}  // namespace recon

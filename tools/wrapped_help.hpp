#pragma once

#include <cstddef>
#include <sstream>
#include <string>

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

}  // namespace recon

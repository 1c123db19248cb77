#include "core/wrapped_text.hpp"

#include <algorithm>

#include "core/utf8.hpp"

namespace recon {

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

}  // namespace recon

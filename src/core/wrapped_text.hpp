#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recon {

/// Lines of at most `columns` characters, all but the first one after `indent` spaces. They end at spaces,
/// which stay where they are inside a line; a longer word, such as a path, has a line of its own, without
/// the indent where it needs the columns.
/// @param column  at which the text begins
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent, std::size_t columns);

/// Each of some whole lines in lines of a terminal; what follows from a line is indented by two more than it.
std::string wrapped_lines(std::string_view text, std::size_t columns);

}  // namespace recon

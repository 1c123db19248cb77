#pragma once

#include <string_view>

#include "io/place.hpp"

namespace recon {

/// Checks that a name from an input file stays inside the folder it is relative to, so that it can be joined
/// to an input or an output folder: not empty, no absolute path, no drive letter, no ".." component, no
/// control characters, and a file name at its end. Both / and \ count as separators.
/// @throws InputError with `place`, the name and the reason
void check_relative_name(std::string_view name, const FilePlace& place);

/// A name that `check_relative_name` accepts without redundant components: "a/b.jpg" for "./a//b.jpg". Names
/// of the same file become equal, except for links.
std::string normalised_name(std::string_view name);

}  // namespace recon

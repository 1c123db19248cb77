#pragma once

#include <string_view>

namespace recon {

/// Files that the web pages contain, embedded when the program is built.
std::string_view embedded_style();
std::string_view embedded_script();

/// three.js with its orbit controls; empty in a program that was built without it.
std::string_view embedded_three();
std::string_view embedded_three_controls();
std::string_view embedded_three_notice();

}  // namespace recon

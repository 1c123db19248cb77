#pragma once

#include <string_view>

namespace recon {

/// What the web pages contain, embedded when the program is built: report.html with its style and script, and
/// three.js with what draws the cloud by it; the latter is empty in a program that was built without
/// three.js.
std::string_view embedded_page();
std::string_view embedded_cloud_script();

}  // namespace recon

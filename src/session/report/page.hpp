#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "session/report/cloud_view.hpp"

namespace recon {

/// A web page that needs no network: report.html, whose script shows the data that stand behind it. The same
/// data make the same bytes.
/// @param kind   of the data: "scene", "pair" or "session"
/// @param cloud  shown too where it has points and the program has three.js
std::string web_page(const char* kind, nlohmann::json data, const CloudView& cloud = {});

/// What stands before the data of a kind: in no other page, and not far from its beginning.
std::string data_mark(const char* kind);

/// The path of a file as an address relative to the page, in which any bytes are harmless.
std::string file_address(const std::string& file);

/// What the web pages contain, embedded when the program is built: report.html with its style and script, and
/// three.js with what draws the cloud by it; the latter is empty in a program that was built without
/// three.js.
std::string_view embedded_page();
std::string_view embedded_cloud_script();

}  // namespace recon

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace recon {

/// Pieces of the reports' web pages, which need nothing but themselves.

/// Text as it stands between tags and in attributes.
std::string html_escaped(const std::string& text);

/// All up to the first heading.
std::string html_head();

/// A list of warnings with its heading; nothing when there are none.
std::string html_warnings(const nlohmann::json& warnings);

/// The options with their heading.
std::string html_options(const nlohmann::json& options);

}  // namespace recon

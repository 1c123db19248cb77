#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace recon {

/// Pieces of the reports' web pages, which need no network.

/// `value` by a format of printf.
std::string number(double value, const char* format);

/// Text as it stands between tags and in attributes.
std::string html_escaped(const std::string& text);

/// The path of a file as an address relative to the page.
std::string html_link(const std::string& file);

/// All up to the first heading.
std::string html_head();

/// A list of warnings with its heading; nothing when there are none.
std::string html_warnings(const nlohmann::json& warnings);

/// Bars for [[begin, end, count], ...] with their heading, as a figure; nothing without bars.
/// @param unit  behind the numbers of the axis
std::string html_histogram(const nlohmann::json& bins, const std::string& title, const std::string& unit);

/// The options with their heading.
std::string html_options(const nlohmann::json& options);

}  // namespace recon

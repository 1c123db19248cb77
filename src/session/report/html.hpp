#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

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

/// Where the colours of the previews and of the cloud are from one word to another, on a line of their own
/// or in a sentence.
std::string html_colours(const std::string& lowest, const std::string& highest);

/// Program, version, date, and links to the files of a report.
/// @param files  beside the page
std::string html_origin(const nlohmann::json& report, const std::vector<std::string>& files);

/// The times of the steps in their order with their heading.
/// @param predicted  seconds by step; may be empty
std::string html_times(const nlohmann::json& steps, const nlohmann::json& predicted);

/// The options with their heading.
std::string html_options(const nlohmann::json& options);

}  // namespace recon

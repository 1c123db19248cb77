#include "session/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "session/report/embedded.hpp"

namespace recon {

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string html_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string html_link(const std::string& file) {
  constexpr std::string_view kPlain = "/-_.~";
  std::string link;
  for (const char c : file) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte)) || kPlain.find(c) != std::string_view::npos)
      link += c;
    else
      link += fmt::format("%{:02X}", byte);
  }
  return link;
}

std::string html_head() {
  return "<!doctype html>\n<html lang=en><meta charset=utf-8><title>reconstruct</title>\n"
         "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<style>\n" +
         std::string(embedded_style()) + "</style>\n";
}

std::string html_warnings(const nlohmann::json& warnings) {
  if (warnings.empty()) return {};
  std::string list = "<h2>Warnings</h2>\n<ul>\n";
  for (const nlohmann::json& warning : warnings) list += "<li>" + html_escaped(warning) + "</li>\n";
  return list + "</ul>\n";
}

std::string html_options(const nlohmann::json& options) {
  return "<h2>Options</h2>\n<pre>" + html_escaped(options) + "</pre>\n";
}

std::string html_histogram(const nlohmann::json& bins, const std::string& title, const std::string& unit) {
  if (bins.empty()) return {};
  // In units of the drawing.
  constexpr double kWidth = 400, kHeight = 120, kAxis = 16;
  double most = 1;
  for (const nlohmann::json& bin : bins) most = std::max(most, bin.at(2).get<double>());
  const double width = kWidth / static_cast<double>(bins.size());
  std::string svg = "<figure><figcaption>" + html_escaped(title) +
                    "</figcaption><svg role=img viewBox=\"0 0 " + number(kWidth, "%.0f ") +
                    number(kHeight + kAxis, "%.0f") + "\">";
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const nlohmann::json& bin = bins.at(i);
    const double height = kHeight * bin.at(2).get<double>() / most;
    svg += "<rect x=" + number(static_cast<double>(i) * width, "%.2f") +
           " y=" + number(kHeight - height, "%.2f") + " width=" + number(0.92 * width, "%.2f") +
           " height=" + number(height, "%.2f") + "><title>" + number(bin.at(0), "%.3g") + " to " +
           number(bin.at(1), "%.3g") + unit + ": " + number(bin.at(2), "%.0f") + "</title></rect>";
  }
  const std::string y = number(kHeight + kAxis - 3, "%.0f");
  svg += "<text x=0 y=" + y + ">" + number(bins.front().at(0), "%.3g") + unit +
         "</text><text x=" + number(kWidth, "%.0f") + " y=" + y + " text-anchor=end>" +
         number(bins.back().at(1), "%.3g") + unit + "</text></svg></figure>\n";
  return svg;
}

}  // namespace recon

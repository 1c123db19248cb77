#include "session/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/map/map_files.hpp"
#include "session/report/embedded.hpp"

namespace recon {

namespace {

/// The colours of the previews in CSS, from left to right.
std::string colour_gradient() {
  constexpr std::size_t kStep = 15;  // of 256 colours, the last one too
  std::string gradient = "linear-gradient(to right";
  const std::vector<Rgb8> colours = preview_colours();
  for (std::size_t i = 0; i < colours.size(); i += kStep)
    gradient += fmt::format(", #{:02x}{:02x}{:02x}", colours[i].r, colours[i].g, colours[i].b);
  return gradient + ")";
}

/// "2026-11-26 18:03 UTC" of "2026-11-26T18:03:21Z".
std::string readable(std::string date) {
  if (date.size() != 20) return date;
  date[10] = ' ';
  return date.substr(0, 16) + " UTC";
}

}  // namespace

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string html_escaped(const std::string& text) {
  static const std::map<char, std::string> kNames = {
      {'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
  std::string result;
  for (const char c : text) {
    const auto name = kNames.find(c);
    result += name == kNames.end() ? std::string(1, c) : name->second;
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
         std::string(embedded_style()) + ":root { --colours: " + colour_gradient() + "; }\n</style>\n";
}

std::string html_colours(const std::string& lowest, const std::string& highest) {
  return "<span class=scale>" + html_escaped(lowest) + "<i></i>" + html_escaped(highest) + "</span>";
}

std::string html_origin(const nlohmann::json& report, const std::vector<std::string>& files) {
  std::string text = "<p><small>reconstruct " + html_escaped(report.at("version"));
  if (report.contains("commit")) text += ", commit " + html_escaped(report.at("commit"));
  const std::string date = html_escaped(report.at("date"));
  text += ", <time datetime=\"" + date + "\">" + readable(date) + "</time>";
  for (const std::string& file : files)
    text += ", <a href=\"" + html_link(file) + "\">" + html_escaped(file) + "</a>";
  return text + "</small></p>\n";
}

std::string html_times(const nlohmann::json& steps, const nlohmann::json& predicted) {
  std::string table = "<h2>Times</h2>\n<table class=times><tr><th>step<th class=n>seconds";
  if (!predicted.empty()) table += "<th class=n>predicted";
  table += "<th></tr>\n";
  double total = 0;
  for (const nlohmann::json& step : steps) {
    const std::string name = step.at("name");
    total += step.at("seconds").get<double>();
    table += "<tr><td>" + html_escaped(name) + "<td class=n>" + number(step.at("seconds"), "%.2f");
    const bool kept = step.at("kept");
    if (!predicted.empty())
      table += "<td class=n>" + (!kept && predicted.contains(name) ? number(predicted.at(name), "%.2f") : "");
    table += std::string("<td>") + (kept ? "by an earlier run" : "") + "</tr>\n";
  }
  return table + "<tr><td>total<td class=n>" + number(total, "%.2f") + "</tr></table>\n";
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

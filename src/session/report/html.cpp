#include "session/report/html.hpp"

namespace recon {

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

std::string html_head() {
  return "<!doctype html>\n<html lang=en><meta charset=utf-8><title>reconstruct</title>\n<style>"
         "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
         "table{border-collapse:collapse;width:100%}td,th{padding:.2em .6em;border-bottom:1px solid "
         "#ddd;text-align:left}"
         ".n{text-align:right}pre{background:#f4f4f4;padding:1em;overflow:auto}</style>\n";
}

std::string html_warnings(const nlohmann::json& warnings) {
  if (warnings.empty()) return {};
  std::string list = "<h2>Warnings</h2>\n<ul>\n";
  for (const nlohmann::json& warning : warnings)
    list += "<li>" + html_escaped(warning.get<std::string>()) + "</li>\n";
  return list + "</ul>\n";
}

std::string html_options(const nlohmann::json& options) {
  return "<h2>Options</h2>\n<pre>" + html_escaped(options.get<std::string>()) + "</pre>\n";
}

}  // namespace recon

#include "session/report/session_report.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/options/options.hpp"
#include "session/report/html.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What only pages of sessions have, and what these had before.
constexpr const char* kPageMark = "<meta name=generator content=\"reconstruct session\">\n";
constexpr const char* kOldPageMark = " scenes</h1>\n<table><tr><th>scene<th class=n>views";

bool is_line(const json& line) {
  return line.is_object() && line.contains("scene") && line.contains("status") && line.contains("exit_code");
}

/// Whether a line has what the page reads, each of its type; lines may have been changed by hand.
bool is_whole(const json& line) {
  return is_line(line) &&
         members_are(line, {"scene", "status", "output", "preview", "error"},
                     [](const json& value) { return value.is_string(); }) &&
         members_are(line, {"exit_code", "views", "points", "seconds", "warnings"},
                     [](const json& value) { return value.is_number(); });
}

/// What a column of the tables shows of a line.
struct Column {
  const char* key;     ///< and the title
  const char* format;  ///< of a number
};

constexpr Column kLineColumns[] = {
    {"views", "%.0f"}, {"points", "%.0f"}, {"seconds", "%.1f"}, {"warnings", "%.0f"}};

std::string cell(const json& line, const Column& column) {
  return line.contains(column.key) ? number(line.at(column.key), column.format) : "-";
}

std::string text_of(const json& line, const char* key) {
  return line.value(key, std::string());
}

/// The results of a line, relative to the page; empty where there are none.
std::string result_link(const fs::path& folder, const json& line, const std::string& file) {
  const std::string output = text_of(line, "output");
  std::error_code error;
  if (output.empty() || !fs::exists(fs::path(output) / file, error)) return {};
  const fs::path link = fs::proximate(fs::path(output) / file, folder, error);
  return error ? std::string() : link.generic_string();
}

std::string linked(const std::string& link, const std::string& text) {
  return link.empty() ? text : "<a href=\"" + html_link(link) + "\">" + text + "</a>";
}

/// The preview of the depth of a view from the middle of the scene, relative to its results; empty where
/// there is none.
std::string middle_preview(const json& report) {
  std::vector<std::string> files;
  if (report.contains("views"))
    for (const json& view : report.at("views"))
      if (view.contains("preview")) files.push_back(view.at("preview"));
  return files.empty() ? std::string() : files[files.size() / 2];
}

/// A depth map of the scene; nothing where there is none.
std::string picture(const fs::path& folder, const json& line) {
  const std::string link = line.contains("preview") ? result_link(folder, line, line.at("preview")) : "";
  return link.empty() ? link : "<img class=scene src=\"" + html_link(link) + "\" alt=\"\" loading=lazy>";
}

std::string session_html(const fs::path& folder, const std::vector<json>& lines) {
  std::string page = html_head() + kPageMark + "<h1>" + std::to_string(lines.size()) +
                     (lines.size() == 1 ? " scene" : " scenes") + "</h1>\n<table><tr><th>scene";
  for (const Column& column : kLineColumns) page += std::string("<th class=n>") + column.key;
  page += "<th>status</tr>\n";
  for (const json& line : lines) {
    const std::string report = result_link(folder, line, "report.html");
    page +=
        "<tr><td>" + linked(report, picture(folder, line) + html_escaped(text_of(line, "scene"))) + "</td>";
    for (const Column& column : kLineColumns) page += "<td class=n>" + cell(line, column) + "</td>";
    const std::string error = text_of(line, "error");
    page +=
        "<td>" + html_escaped(text_of(line, "status") + (error.empty() ? "" : ": " + error)) + "</td></tr>\n";
  }
  return page + "</table>\n</html>\n";
}

}  // namespace

json session_line(const json& report, int exit_code) {
  json line = {{"scene", report.at("scene")}, {"exit_code", exit_code}};
  if (report.contains("error"))
    line["status"] = "failed", line["error"] = report.at("error");
  else
    line["status"] = exit_code == 0 ? "done" : "some views failed";
  for (const char* key : {"output", "points"})
    if (report.contains(key)) line[key] = report.at(key);
  for (const char* key : {"views", "left_out", "warnings"})
    if (report.contains(key)) line[key] = report.at(key).size();
  if (report.contains("seconds")) line["seconds"] = report.at("seconds").at("total");
  if (const std::string file = middle_preview(report); !file.empty()) line["preview"] = file;
  return line;
}

std::string session_table(const std::vector<json>& lines) {
  std::size_t width = 5;
  for (const json& line : lines) width = std::max(width, text_of(line, "scene").size());
  const auto row = [&](std::string scene, const auto& text_of_column, const std::string& status) {
    std::string text = scene.append(width - scene.size(), ' ');
    for (const Column& column : kLineColumns) {
      const std::string value = text_of_column(column);
      text += "  " + std::string(10 - std::min<std::size_t>(value.size(), 10), ' ') + value;
    }
    return text + "  " + status + "\n";
  };
  std::string table = row(
      "scene", [](const Column& column) { return std::string(column.key); }, "status");
  for (const json& line : lines) {
    const int exit_code = line.at("exit_code");
    table += row(
        text_of(line, "scene"), [&](const Column& column) { return cell(line, column); },
        text_of(line, "status") + (exit_code == 0 ? "" : " (" + std::to_string(exit_code) + ")"));
  }
  return table;
}

json session_estimate(const json& plans) {
  std::size_t planned = 0, timed = 0;
  double seconds = 0, beginning = 0;
  std::uint64_t memory = 0, output = 0;
  for (const json& plan : plans) {
    if (!plan.contains("memory")) continue;
    ++planned;
    memory = std::max(memory, plan.at("memory").at("peak").get<std::uint64_t>());
    output += plan.at("memory").value("output", std::uint64_t{0});
    if (!plan.contains("seconds")) continue;
    ++timed;
    const json& time = plan.at("seconds");
    // The program starts and opens its devices once. Of pairs, the matching alone is predicted.
    const json steps = time.value("steps", json::object());
    const double once = steps.value("start", 0.0) + steps.value("opening the device", 0.0);
    beginning = std::max(beginning, once);
    seconds += time.value("total", time.value("matching", 0.0)) - once;
  }
  return {{"planned", planned},
          {"timed", timed},
          {"seconds", seconds + beginning},
          {"memory", memory},
          {"output", output}};
}

std::string estimate_text(const json& estimate) {
  const std::size_t planned = estimate.at("planned"), timed = estimate.at("timed");
  std::string text = std::to_string(planned) + (planned == 1 ? " input" : " inputs");
  if (timed > 0) text += ": about " + number(estimate.at("seconds"), "%.2f s");
  if (timed > 0 && timed < planned) text += " for " + std::to_string(timed) + " of them";
  return text + ", up to " + format_byte_size(estimate.at("memory")) + " of memory, results up to " +
         format_byte_size(estimate.at("output")) + "\n";
}

bool is_session_file(const fs::path& path) {
  if (std::ranges::none_of(kSessionFiles, [&](const char* name) { return path.filename() == name; }))
    return false;
  constexpr std::size_t kBeginning = 256 << 10;
  try {
    const std::string text = read_beginning(path, kBeginning);
    if (path.extension() == ".jsonl")
      return is_line(json::parse(text.substr(0, text.find('\n')), nullptr, false));
    return text.find(kPageMark) != std::string::npos || text.find(kOldPageMark) != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

std::vector<json> read_session_lines(const fs::path& folder) {
  std::vector<json> lines;
  try {
    std::istringstream text(read_file(folder / "session.jsonl"));
    for (std::string row; std::getline(text, row);)
      if (json line = json::parse(row, nullptr, false); is_whole(line)) lines.push_back(std::move(line));
  } catch (const Error&) {  // of no earlier call
  }
  return lines;
}

void write_session_files(const fs::path& folder, const std::vector<json>& lines) {
  std::error_code error;
  fs::create_directories(folder, error);  // else writing fails and says why
  std::string text;
  for (const json& line : lines) text += line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  write_file(folder / "session.jsonl", text);
  write_file(folder / "index.html", session_html(folder, lines));
}

}  // namespace recon

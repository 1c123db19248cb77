#include "session/report/session_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/content_hash.hpp"
#include "core/duration.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/printable.hpp"
#include "io/file/input_file.hpp"
#include "io/file/output_file.hpp"
#include "session/options/option_text.hpp"
#include "session/pair/pair_results.hpp"
#include "session/report/page.hpp"
#include "session/resume/output_folder.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What only pages of sessions had before they had their data.
constexpr const char* kOldPageMarks[] = {"<meta name=generator content=\"reconstruct session\">",
                                         " scenes</h1>\n<table><tr><th>scene<th class=n>views"};

bool is_line(const json& line) {
  return line.is_object() && line.contains("scene") && line.contains("status") && line.contains("exit_code");
}

/// Whether a line has what the page reads, each of its type; lines may have been changed by hand.
bool is_whole(const json& line) {
  static const json kLine = {{"scene", ""},  {"status", ""},   {"output", ""}, {"preview", ""},
                             {"error", ""},  {"exit_code", 0}, {"views", 0},   {"points", 0},
                             {"seconds", 0}, {"warnings", 0}};
  return is_line(line) && is_like(line, kLine);
}

/// A column of the table that has numbers.
struct NumberColumn {
  const char *key, *title;
  int decimals;
};

constexpr NumberColumn kColumns[] = {
    {"views", "views", 0}, {"points", "points", 0}, {"elapsed", "seconds", 1}, {"warnings", "warnings", 0}};

std::string text_of(const json& line, const char* key) {
  return line.value(key, std::string());
}

/// The address of a file of the results of a line; empty where it is not there.
std::string result_address(const fs::path& folder, const json& line, const std::string& file) {
  const std::string output = text_of(line, "output");
  std::error_code error;
  if (output.empty() || !fs::exists(fs::path(output) / file, error)) return {};
  const fs::path address = fs::proximate(fs::path(output) / file, folder, error);
  return error ? std::string() : file_address(address.generic_string());
}

/// The preview of the depth of a view from the middle of the scene, or of the disparity of a pair, relative
/// to its results; empty where there is none.
std::string preview_of(const json& report) {
  if (report.contains("disparity")) return pair_file::kPreview;
  std::vector<std::string> files;
  if (report.contains("views"))
    for (const json& view : report.at("views"))
      if (view.contains("preview")) files.push_back(view.at("preview"));
  return files.empty() ? std::string() : files[files.size() / 2];
}

/// The lines with the addresses of their pages and pictures, as far as there are any.
json page_data(const fs::path& folder, std::vector<json> lines, const std::string& skipped) {
  for (json& line : lines) {
    line["page"] = result_address(folder, line, "report.html");
    line["picture"] = line.contains("preview") ? result_address(folder, line, line.at("preview")) : "";
  }
  return {{"scenes", lines}, {"skipped", skipped}};
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
  if (report.contains("elapsed")) line["elapsed"] = report.at("elapsed");
  if (const std::string file = preview_of(report); !file.empty()) line["preview"] = file;
  return line;
}

std::string session_table(const std::vector<json>& lines, std::optional<std::size_t> width) {
  std::vector<TableColumn> columns = {{"scene", true}};
  for (const NumberColumn& it : kColumns) columns.push_back({it.title});
  columns.push_back({"status", true});
  std::vector<std::vector<std::string>> rows;
  for (const json& line : lines) {
    std::vector<std::string> row = {printable(text_of(line, "scene"))};
    for (const auto& [key, title, decimals] : kColumns)
      row.push_back(line.contains(key) ? fmt::format("{:.{}f}", line.at(key).get<double>(), decimals) : "-");
    const int exit_code = line.at("exit_code");
    row.push_back(text_of(line, "status") +
                  (exit_code == 0 ? "" : fmt::format(" (exit code {})", exit_code)));
    rows.push_back(std::move(row));
  }
  return text_table(columns, rows, width);
}

/// The memory of the largest inputs together, as far as the limit permits.
std::uint64_t memory_side_by_side(const std::vector<json>& memories, int at_once) {
  std::vector<std::uint64_t> peaks;
  std::uint64_t limit = 0;
  for (const json& memory : memories) {
    peaks.push_back(memory.at("peak"));
    limit = std::max(limit, memory.at("limit").get<std::uint64_t>());
  }
  std::ranges::sort(peaks, std::greater());
  peaks.resize(std::min(peaks.size(), static_cast<std::size_t>(at_once)));
  return std::min(limit, std::accumulate(peaks.begin(), peaks.end(), std::uint64_t{0}));
}

json session_estimate(const json& plans, int at_once) {
  std::vector<json> memories;
  std::size_t timed = 0;
  double seconds = 0, beginning = 0;
  std::uint64_t output = 0;
  for (const json& plan : plans) {
    if (!plan.contains("memory")) continue;
    memories.push_back(plan.at("memory"));
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
  return {{"planned", memories.size()},
          {"without_plan", plans.size() - memories.size()},
          {"timed", timed},
          {"seconds", seconds + beginning},
          {"memory", memory_side_by_side(memories, at_once)},
          {"output", output}};
}

std::string estimate_text(const json& estimate) {
  const std::size_t planned = estimate.at("planned"), timed = estimate.at("timed");
  std::string text = std::to_string(planned) + (planned == 1 ? " input" : " inputs");
  if (timed > 0) text += fmt::format(": about {}", duration_text(estimate.at("seconds")));
  if (timed > 0 && timed < planned) text += " for " + std::to_string(timed) + " of them";
  return text + ", up to " + format_byte_size(estimate.at("memory")) + " of memory, results up to " +
         format_byte_size(estimate.at("output")) +
         (estimate.at("without_plan") > 0
              ? fmt::format("; {} cannot be used\n", estimate.at("without_plan").get<std::size_t>())
              : "\n");
}

bool is_session_file(const fs::path& path) {
  if (std::ranges::none_of(kSessionFiles, [&](const char* name) { return path.filename() == name; }))
    return false;
  constexpr std::size_t kBeginning = 256 << 10;
  try {
    const std::string text = read_beginning(path, kBeginning);
    if (path.extension() == ".jsonl")
      return is_line(json::parse(text.substr(0, text.find('\n')), nullptr, false));
    return text.find(data_mark("session")) != std::string::npos ||
           std::ranges::any_of(kOldPageMarks,
                               [&](const char* mark) { return text.find(mark) != std::string::npos; });
  } catch (const Error&) {
    return false;
  }
}

std::vector<json> read_session_lines(const fs::path& folder) {
  std::vector<json> lines;
  try {
    std::istringstream text(read_file(folder / kSessionLines));
    for (std::string row; std::getline(text, row);)
      if (json line = json::parse(row, nullptr, false); is_whole(line)) lines.push_back(std::move(line));
  } catch (const Error&) {  // of no earlier call
  }
  return lines;
}

constexpr std::string_view kSessionKey = "<!-- as written: ";

/// The last line of the page: hashes of what is before it and of the lines, also of those of the call before,
/// which a killed call leaves beside its page.
static std::string session_key(std::string_view page, std::string_view lines,
                               std::string_view earlier_lines) {
  return fmt::format("{}{} {} {} -->\n", kSessionKey, content_hash(page), content_hash(lines),
                     content_hash(earlier_lines));
}

/// The bytes of a file of the session; none where it cannot be read.
static std::string session_text(const fs::path& file) try {
  return is_file(file) ? read_file(file) : std::string();
} catch (const Error&) {
  return {};
}

std::vector<std::string> keep_changed_session_files(const fs::path& folder, bool alone) {
  const std::string lines = session_text(folder / kSessionLines), page = session_text(folder / kSessionPage);
  const std::size_t end = page.rfind(kSessionKey);
  std::vector<std::string> texts;
  const auto keep = [&](const char* name, auto... why) {
    std::string text = Workspace::keep_changed(folder / name, why...);
    if (!text.empty()) texts.push_back(std::move(text));
  };
  if (end == std::string::npos) {
    constexpr const char* kMaybe = "may have been changed, as there is no record of how it was written";
    if (alone && !lines.empty()) keep(kSessionLines, kMaybe);  // first: until it is kept, nothing else is
    if (!page.empty()) keep(kSessionPage, kMaybe);
    return texts;
  }
  std::istringstream hashes(page.substr(end + kSessionKey.size()));
  std::string of_page, of_lines, of_earlier_lines, mark, more;
  hashes >> of_page >> of_lines >> of_earlier_lines >> mark;
  const std::string hash = content_hash(lines);
  if (alone && !lines.empty() && hash != of_lines && hash != of_earlier_lines) keep(kSessionLines);
  if (content_hash(page.substr(0, end)) != of_page || hashes >> more) keep(kSessionPage);
  return texts;
}

void write_session_files(const fs::path& folder, const std::vector<json>& lines, const std::string& skipped) {
  std::error_code error;
  fs::create_directories(folder, error);  // else writing fails and says why
  std::string text;
  for (const json& line : lines) text += line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const std::string page = web_page("session", page_data(folder, lines, skipped));
  write_file(folder / kSessionPage, page + session_key(page, text, session_text(folder / kSessionLines)));
  write_file(folder / kSessionLines, text);
}

}  // namespace recon

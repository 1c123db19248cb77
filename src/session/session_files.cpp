#include "session/session_files.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/duration.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "session/report/session_report.hpp"
#include "session/resume/output_folder.hpp"
#include "session/session.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Hidden, so that neither a pattern of the shell nor a later session takes it for an input.
constexpr const char* kLockFile = ".reconstruct-session";

std::vector<json> in_order(const std::map<std::size_t, json>& lines_by_input) {
  std::vector<json> lines;
  for (const auto& [input, line] : lines_by_input) lines.push_back(line);
  return lines;
}

/// Whether all of a report is of an earlier run.
bool is_kept(const json& report) {
  return report.contains("tasks") ? report.at("tasks").empty() : report.value("kept", false);
}

}  // namespace

void check_session_files(const fs::path& folder) {
  if (folder.empty()) return;
  for (const char* name : kSessionFiles) {
    const fs::path file = folder / name;
    std::error_code ignored;
    if (fs::is_symlink(file, ignored) || (is_there(file) && !is_session_file(file)))
      throw UsageError(file.string() +
                       ": reconstruct did not write this file, and writes one of that name about the "
                       "session; move it, or choose another folder with --output");
  }
}

SessionFiles::SessionFiles(const std::vector<Input>& inputs, fs::path folder, const std::string& shared_key,
                           bool wait)
    : count_(inputs.size()), folder_(std::move(folder)), shared_(!shared_key.empty()) {
  if (inputs.empty() || folder_.empty()) return;
  check_session_files(folder_);
  try {
    lock_ = std::make_unique<OutputLock>(folder_, shared_key, wait, kLockFile);
    keep_lines(inputs);
  } catch (const OutputError& error) {
    fail(error);
    folder_.clear();
  }
}

SessionFiles::~SessionFiles() {
  if (lock_) lock_->remove_file();
}

/// Keeps what earlier runs wrote about these inputs, until this one has reached them.
void SessionFiles::keep_lines(const std::vector<Input>& inputs) {
  for (json& line : read_session_lines(folder_))
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (line.at("scene") == input_name(inputs[i]).string()) earlier_[i] = line;
}

void SessionFiles::begin_work(int at_once) {
  at_once_ = static_cast<std::size_t>(at_once);
  start_ = Clock::now();
}

void SessionFiles::add(std::size_t input, const Outcome& outcome) {
  if (count_ == 0) return;
  lines_[input] = session_line(outcome.object, outcome.exit_code);
  write();
  const std::size_t left = count_ - lines_.size();
  if (!start_) return;
  worked_ += is_kept(outcome.object) ? 0 : 1;
  if (left == 0) return;
  std::string text = fmt::format("{} of {} scenes", lines_.size(), count_);
  if (worked_ > 0) {
    const double seconds = std::chrono::duration<double>(Clock::now() - *start_).count();
    // Those that are worked on are half done.
    const double halves = 0.5 * static_cast<double>(std::min(at_once_ - 1, left)),
                 done = static_cast<double>(worked_) + halves, to_do = static_cast<double>(left) - halves;
    text += fmt::format(", about {} left", duration_text(std::ceil(seconds / done * to_do)));
  }
  messages().info("{}", text);
}

std::string SessionFiles::table(std::optional<std::size_t> width) const {
  return lines_.empty() ? "" : session_table(in_order(lines_), width);
}

std::string SessionFiles::place() const {
  if (lines_.empty() || folder_.empty() || failure_) return {};
  return fmt::format("all of them with pictures and reasons: {}; as JSON: {}\n",
                     (folder_ / kSessionPage).string(), (folder_ / kSessionLines).string());
}

/// A failure does not stop the work: the results of the scenes matter more than these files, and the next
/// call may succeed.
void SessionFiles::write() {
  if (folder_.empty()) return;
  try {
    std::map<std::size_t, json> all = lines_;
    all.insert(earlier_.begin(), earlier_.end());
    for (const std::string& changed : keep_changed_session_files(folder_, !shared_))
      messages().warn("{}", changed);
    write_session_files(folder_, in_order(all));
    failure_.reset();
    error_ = nullptr;
  } catch (const OutputError& error) {
    fail(error);
  }
}

void SessionFiles::fail(const OutputError& error) {
  const std::string message = std::string("the session's files are not written: ") + error.what();
  if (!failure_) messages().warn("{}", message);
  failure_ = Failure{error.exit_code(), message};
  error_ = std::make_exception_ptr(OutputError(message));
}

}  // namespace recon

#include "session/session_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "scene/faces.hpp"
#include "session/pair/pair_results.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/targets.hpp"
#include "session/report/session_report.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/read_scene.hpp"
#include "session/scene/scene_formats.hpp"
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

SessionFiles::SessionFiles(const std::vector<Input>& inputs, fs::path folder, std::string skipped,
                           const std::string& shared_key, bool wait)
    : count_(inputs.size()),
      skipped_(std::move(skipped)),
      folder_(std::move(folder)),
      shared_(!shared_key.empty()) {
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

void SessionFiles::add(std::size_t input, const Outcome& outcome) {
  if (count_ == 0) return;
  lines_[input] = session_line(outcome.object, outcome.exit_code);
  write();
  if (!began_ || lines_.size() == count_) return;
  const auto failed =
      std::ranges::count_if(lines_, [](const auto& it) { return it.second.contains("error"); });
  messages().info("{} of {} scenes are done{}", std::ssize(lines_) - failed, count_,
                  failed > 0 ? fmt::format(", {} failed", failed) : "");
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
    write_session_files(folder_, in_order(all), skipped_);
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

namespace {

/// Whether there is a result of a step, or the run is not to do it.
bool is_finished(Step step, const ScenePlan& plan, const Targets& targets, const Workspace& workspace) {
  if (!targets.does(step)) return true;
  if (!is_of_views(step)) return is_there(workspace.path(Workspace::record_file(step)));
  return std::ranges::all_of(targets.views_of(step, plan), [&](int view) {
    return is_there(workspace.path(Workspace::record_file(step, plan.view(view).output_name)));
  });
}

/// Whether earlier runs have made what a run is to make. What is stale is made again in its place.
bool is_finished(const ScenePlan& plan, const Targets& targets, const Workspace& workspace) {
  const Step last = targets.does(Step::kFusion) ? Step::kFusion : Step::kEstimate;
  return std::ranges::all_of(std::array{last, Step::kTiles, Step::kExport},
                             [&](Step step) { return is_finished(step, plan, targets, workspace); });
}

/// Bytes of the results of an input that earlier runs have not made; 0 where its plan cannot be made.
std::uint64_t bytes_to_write(const Input& input, const SceneSettings& settings, const PairJob& pair,
                             const Workspace& workspace, std::size_t memory) try {
  if (const auto* files = std::get_if<PairFiles>(&input))
    return is_there(workspace.path(Workspace::record_file(Step::kPair)))
               ? 0
               : workspace.bytes_left(pair_output(make_pair_plan(*files, pair)).bytes);
  const auto& folder = std::get<SceneFolder>(input);
  Scene scene = importer_of(folder).read(folder, model_memory(memory));
  const std::vector<LeftOut> left_out = without_photo(folder, scene);
  const ScenePlan plan = make_plan(with_faces(std::move(scene)), left_out, settings);
  return is_finished(plan, Targets(settings), workspace) ? 0
                                                         : workspace.bytes_left(output_bytes(plan, settings));
} catch (const Interrupted&) {
  throw;
} catch (const std::exception&) {
  return 0;
}

/// What several inputs write on one file system.
struct Need {
  std::filesystem::path folder;  ///< of the first of them
  std::size_t inputs = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

void check_session_space(const std::vector<Input>& inputs, const SceneSettings& settings, const PairJob& pair,
                         const Destination& destination, std::size_t memory) {
  std::map<dev_t, Need> needs;
  for (const Input& input : inputs) {
    check_interrupted();
    if (!is_usable(input)) continue;
    const Workspace workspace(destination.of(input, true));
    struct stat info {};
    if (::stat(existing_folder(workspace.root()).c_str(), &info) != 0) continue;  // its turn says why
    const std::uint64_t bytes = bytes_to_write(input, settings, pair, workspace, memory);
    if (bytes == 0) continue;
    Need& need = needs[info.st_dev];
    if (need.inputs++ == 0) need.folder = workspace.root();
    need.bytes += bytes;
  }
  for (const auto& [device, need] : needs)
    if (need.inputs > 1) check_free_space(need.folder, need.bytes, need.inputs);
}

}  // namespace recon

#include "session/scene/scene_run.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "io/output_file.hpp"

namespace recon {

SceneRun::SceneRun(const SessionOptions& session_options, SceneFolder scene_folder, Workspace output,
                   int thread_count)
    : options(session_options),
      job{session_options.method_of(false), false},
      folder(std::move(scene_folder)),
      workspace(std::move(output)),
      threads(thread_count),
      photos(folder.images, session_options.in_colour(job), 0) {}

void SceneRun::warn(const std::string& text) {
  spdlog::warn("{}", text);
  warnings.push_back(text);
}

FinishedStep find_finished(const Workspace& workspace, bool overwrite, const std::string& record_file,
                           const nlohmann::json& inputs) {
  if (overwrite) return {};
  FinishedStep finished{read_record(workspace.path(record_file)), {}, false};
  if (!finished.record) return finished;
  finished.reason = describe_change(finished.record->inputs, nlohmann::json::parse(json_text(inputs)));
  finished.changed = !finished.reason.empty();
  if (!finished.changed)
    if (const auto damaged = damaged_output(*finished.record, workspace.root()))
      finished.reason = *damaged + " is missing or damaged";
  if (!finished.reason.empty()) finished.record.reset();
  return finished;
}

FinishedStep find_finished(const SceneRun& run, const std::string& record_file,
                           const nlohmann::json& inputs) {
  return find_finished(run.workspace, run.options.overwrite, record_file, inputs);
}

void log_resumed(const std::string& step, std::size_t kept,
                 const std::vector<std::pair<std::string, std::string>>& reasons) {
  std::size_t stale = 0;
  for (const auto& [view, reason] : reasons) {
    if (reason.empty()) continue;
    ++stale;
    spdlog::debug("{}: {} is done again: {}", step, view, reason);
  }
  if (kept > 0) spdlog::info("{}: {} of {} views are finished and kept", step, kept, kept + reasons.size());
  if (stale == 0) return;
  for (const auto& [view, reason] : reasons)
    if (!reason.empty()) {
      spdlog::info("{}: {} stale views are done again, such as {}: {}", step, stale, view, reason);
      break;
    }
}

}  // namespace recon

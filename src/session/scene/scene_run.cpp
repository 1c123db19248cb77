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
      photos(folder.images, session_options.in_colour(job),
             session_options.swept_by_patches(job) ? session_options.sweep_stages.patch_match.levels : 0, 0) {
}

void SceneRun::warn(const std::string& text) {
  spdlog::warn("{}", text);
  const std::lock_guard lock(warnings_mutex);
  warnings.push_back(text);
}

FinishedStep find_finished(const SceneRun& run, Step step, int view, const nlohmann::json& inputs) {
  return find_finished(run.workspace, run.options.overwrite, run.record_file(step, view), inputs);
}

}  // namespace recon

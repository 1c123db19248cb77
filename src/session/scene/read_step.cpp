#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <system_error>

#include "core/error.hpp"
#include "io/colmap_model.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

bool is_finite(const Pose& pose) {
  return std::all_of(std::begin(pose.rotation.m), std::end(pose.rotation.m),
                     [](double v) { return std::isfinite(v); }) &&
         std::isfinite(pose.translation.x) && std::isfinite(pose.translation.y) &&
         std::isfinite(pose.translation.z);
}

void check_poses(const Scene& scene, const SceneFolder& folder) {
  for (const View& view : scene.views)
    if (!is_finite(view.cam_from_world))
      throw InputError(folder.model.string() + ": the pose of " + view.name +
                       " is not finite; remove the view or correct it");
}

/// Why a view cannot be used, by its name and the presence of its photo; empty if it can.
std::optional<std::string> fault_of_photo(const SceneRun& run, const std::string& name) {
  const fs::path file = run.folder.images / name;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return file.string() + ": there is no such photo";
  if (const std::size_t bytes = file.filename().string().size(); bytes > Workspace::kMaxNameBytes)
    return file.string() + ": its name has " + std::to_string(bytes) + " bytes; with at most " +
           std::to_string(Workspace::kMaxNameBytes) + " the files made from it can be named after it";
  return std::nullopt;
}

/// Views whose photo is not there, or has a name that is too long.
std::vector<LeftOut> unusable_photos(const SceneRun& run) {
  std::vector<LeftOut> unusable;
  for (const View& view : run.scene.views)
    if (const auto fault = fault_of_photo(run, view.name)) unusable.push_back({view.name, *fault});
  for (const LeftOut& view : unusable) spdlog::warn("{} is left out: {}", view.name, view.reason);
  if (!run.scene.views.empty() && unusable.size() == run.scene.views.size())
    throw InputError(run.folder.images.string() + ": none of the " + std::to_string(unusable.size()) +
                     " photos of the model can be used, such as " + unusable.front().reason);
  return unusable;
}

}  // namespace

void read_scene(SceneRun& run) {
  run.scene = read_colmap_model(run.folder.model, model_memory(run.memory.limit));
  for (const std::string& warning : run.scene.warnings) run.warn(warning);
  check_poses(run.scene, run.folder);
  run.plan = make_plan(run.scene, unusable_photos(run), run.options);
  for (const std::string& warning : run.plan.warnings) spdlog::warn("{}", warning);
  if (const std::string note = plane_limit_note(run.plan); !note.empty()) spdlog::info("{}", note);
}

}  // namespace recon

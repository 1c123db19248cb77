#include "session/scene/scene_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/log.hpp"
#include "core/paths.hpp"
#include "core/utf8.hpp"
#include "io/file/text_scanner.hpp"
#include "scene/faces.hpp"
#include "session/scene/calibration.hpp"
#include "session/scene/scene_formats.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

/// Why a view cannot be used, by its name and the presence of its photo; empty if it can.
std::optional<std::string> fault_of_photo(const SceneRun& run, const View& view) {
  const fs::path file = run.folder.images / view.photo_file();
  try {
    if (!is_there_to_read(file))
      return with_escapes(file.string()) + ": there is no such photo" +
             similar_photo(run.folder, file, view.name);
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

/// Views of the plan whose files would have names that are too long.
std::vector<LeftOut> with_long_names(const SceneRun& run) {
  std::vector<LeftOut> unusable;
  for (const int view : run.plan.all_views()) {
    const std::size_t bytes = fs::path(run.plan.view(view).output_name).filename().string().size();
    if (bytes <= Workspace::kMaxNameBytes) continue;
    const View& it = run.plan.scene_view(view);
    const fs::path photo = run.folder.images / it.photo_file();
    const std::size_t of_photo = photo.filename().string().size();
    const std::size_t most = of_photo - std::min(of_photo, bytes - Workspace::kMaxNameBytes);
    if (is_left_out(unusable, it.photo_name())) continue;
    unusable.push_back(
        {it.photo_name(), fmt::format("{}: its name has {} bytes; with at most {} the files made "
                                      "from it can be named after it",
                                      photo.string(), of_photo, most)});
  }
  return unusable;
}

/// Views whose photo is not there, and those that the model lacks for the same reason.
std::vector<LeftOut> unusable_photos(const SceneRun& run) {
  std::vector<LeftOut> unusable = run.scene.unusable;
  for (const View& view : run.scene.views)
    if (const auto fault = fault_of_photo(run, view)) unusable.push_back({view.name, *fault});
  for (const LeftOut& view : unusable)
    messages().warn("{} is left out: {}", with_escapes(view.name), view.reason);
  if (!run.scene.views.empty() && unusable.size() == run.scene.views.size() + run.scene.unusable.size())
    throw InputError(run.folder.images.string() + ": none of the " + std::to_string(unusable.size()) +
                     " photos of the model can be used, such as " + unusable.front().reason);
  return unusable;
}

/// Says which names of photos are not UTF-8: they are used, but reports cannot name them.
void warn_of_names(SceneRun& run) {
  std::vector<std::string> names;
  for (const View& view : run.scene.views)
    if (!is_utf8(view.name)) names.push_back(view.name);
  if (names.empty()) return;
  run.warn(fmt::format(
      "{}: the names of {} of {} photos, such as {}, are not UTF-8: reports have other characters in "
      "their place; rename the photos, also in the model",
      run.folder.model.string(), names.size(), run.scene.views.size(), in_quotes(names.front())));
}

/// Divides the views of wide cameras into faces; what follows knows only views.
void divide_wide_photos(SceneRun& run) {
  run.scene = with_faces(std::move(run.scene));
  std::set<std::string> photos;
  std::size_t faces = 0;
  for (const View& view : run.scene.views)
    if (view.face) photos.insert(view.face->photo), ++faces;
  if (faces == 0) return;
  messages().info(
      "{} photos see more than {} degrees: they become {} pinhole views, such as {}", photos.size(),
      kWideDegrees, faces,
      std::ranges::find_if(run.scene.views, [](const View& view) { return view.face != nullptr; })->name);
}

/// Whether a folder is another one or lies in it.
bool lies_in(const fs::path& folder, const fs::path& other) {
  const fs::path a = resolved_path(folder), b = resolved_path(other);
  return std::mismatch(b.begin(), b.end(), a.begin(), a.end()).first == b.end();
}

/// The folder of --depth-maps, which is inside the scene or anywhere.
/// @throws InputError where there is none, or it cannot be known
fs::path folder_of_given_maps(const SceneRun& run) {
  const fs::path& folder = run.options.depth_maps;
  const fs::path inside = run.folder.root / folder;
  if (!run.folder.alone && folder.is_relative() && !is_folder(inside))
    throw InputError(fmt::format(
        "{}: there is no folder of --depth-maps; of a session each scene has its own, and an absolute "
        "path names one for all",
        inside.string()));
  std::error_code of_inside, of_folder;
  if (fs::exists(inside, of_inside) || fs::exists(folder, of_folder))
    return is_folder(inside) ? inside : folder;
  for (const auto& [path, error] : {std::pair(inside, of_inside), std::pair(folder, of_folder)})
    if (error && error != std::errc::no_such_file_or_directory)
      throw InputError(
          fmt::format("--depth-maps: the folder {} cannot be read: {}", path.string(), error.message()));
  throw InputError(fmt::format("--depth-maps: there is no folder '{}'{}", folder.string(),
                               folder.is_absolute() ? ""
                                                    : ", neither in " + run.folder.root.string() +
                                                          " nor in " + fs::current_path(of_folder).string()));
}

/// Looks for the maps of --depth-maps, and says which views have none.
void find_given_maps(SceneRun& run) {
  const fs::path& folder = run.options.depth_maps;
  if (folder.empty()) return;
  const fs::path found = folder_of_given_maps(run);
  if (lies_in(found, run.workspace.root()))
    throw UsageError(
        fmt::format("--depth-maps {} lies in the output folder {}, whose maps are replaced; give "
                    "another --output",
                    folder.string(), run.workspace.root().string()));
  run.given.find(found, run.scene.views, run.options.depth_unit, model_memory(run.memory.limit) / 2);
  const auto bends = [&](const View& view) {
    return run.scene.cameras[static_cast<std::size_t>(view.camera)].model > CameraModel::kPinhole;
  };
  if (const auto bent = std::ranges::count_if(run.scene.views, bends); bent > 0)
    messages().info(
        "--depth-maps: the photos of {} views have a lens distortion; their maps have to be of the "
        "undistorted images, as dense/images has them",
        bent);
  std::vector<std::string> without;
  for (const View& view : run.scene.views)
    if (!run.given.has(view.name)) without.push_back(view.name);
  if (!without.empty())
    run.warn(
        fmt::format("--depth-maps {}: {} of {} views have no depth map there, such as {}; their surfaces are "
                    "in the cloud as far as other views have them",
                    folder.string(), without.size(), run.scene.views.size(), without.front()));
}

}  // namespace

SceneRun::SceneRun(const SessionOptions& session_options, SceneFolder scene_folder, Workspace output,
                   int thread_count)
    : options(session_options),
      job{session_options.method_of(false), false},
      folder(std::move(scene_folder)),
      workspace(std::move(output)),
      threads(thread_count),
      photos(folder.images, session_options.in_colour(job),
             session_options.swept_by_patches(job) ? session_options.sweep().patch_match.levels : 0, 0),
      results(workspace, session_options.overwrite),
      maps(workspace) {}

bool SceneRun::does(Step step) const {
  if (step == Step::kPrepare) return true;
  if (step == Step::kEstimate) return options.estimates();
  if (step == Step::kTiles && options.tile <= 0) return false;
  if (step == Step::kExport && options.export_points == 0) return false;
  return options.fuses();
}

std::vector<int> SceneRun::views_of(Step step) const {
  if (!does(step)) return {};
  if (step == Step::kPrepare) return plan.needed_views();
  return step == Step::kEstimate ? plan.active_views() : plan.views_in_scope();
}

void SceneRun::warn(const std::string& text) {
  messages().warn("{}", text);
  const std::lock_guard lock(warnings_mutex);
  warnings.push_back(text);
}

double SceneRun::predicted(std::string_view step, int views, int of_all) const {
  for (const auto& [name, seconds] : predicted_steps)
    if (name == step) return std::max(0.0, seconds * views / std::max(1, of_all));
  return 0;
}

void log_kept(const SceneRun& run, Step step, const std::vector<int>& views) {
  const char* const name = step_name(step);
  int kept = 0, stale = 0, first = 0;
  for (const int view : views) {
    kept += run.results.kept(run.key(step, view)) ? 1 : 0;
    const std::string reason = run.results.reason(run.key(step, view));
    if (reason.empty()) continue;
    if (stale++ == 0) first = view;
    messages().debug("{}: {} is done again: {}", name, run.plan.name(view), reason);
  }
  if (kept > 0) messages().info("{}: {} of {} views are finished and kept", name, kept, views.size());
  if (stale == 0) return;
  const std::string &view = run.plan.name(first), reason = run.results.reason(run.key(step, first));
  if (stale == 1)
    messages().info("{}: the stale view {} is done again: {}", name, view, reason);
  else
    messages().info("{}: {} stale views are done again, such as {}: {}", name, stale, view, reason);
}

void make_plan(SceneRun& run, std::vector<LeftOut> left_out) {
  try {
    const auto has_map = [&run](const std::string& view) { return !run.given.any() || run.given.has(view); };
    run.plan = make_plan(run.scene, left_out, run.options, has_map, run.photo_points);
    if (const std::vector<LeftOut> unusable = with_long_names(run); !unusable.empty()) {
      for (const LeftOut& view : unusable) run.warn(view.name + " is left out: " + view.reason);
      left_out.insert(left_out.end(), unusable.begin(), unusable.end());
      run.plan = make_plan(run.scene, left_out, run.options, has_map, run.photo_points);
    }
    run.plan.corner_bytes = point_bytes(run.photo_points);
    run.plan.given_map_bytes = run.given.reading_bytes();
  } catch (const InputError& error) {
    throw InputError(run.folder.model.string() + ": " + error.what());
  }
}

void read_scene(SceneRun& run) {
  run.scene = importer_of(run.folder).read(run.folder, model_memory(run.memory.limit));
  for (const std::string& warning : run.folder.warnings) run.warn(warning);
  for (const std::string& warning : run.scene.warnings) run.warn(warning);
  find_moved_photos(run);
  warn_of_names(run);
  std::vector<LeftOut> left_out = unusable_photos(run);
  fit_cameras(run, left_out);
  for (const LeftOut& view : read_masks(run)) {
    if (is_left_out(left_out, view.name)) continue;
    messages().warn("{} is left out: {}", view.name, view.reason);
    left_out.push_back(view);
  }
  inspect_photos(run, left_out);
  check_calibration(run, left_out);
  divide_wide_photos(run);
  find_given_maps(run);
  make_plan(run, left_out);
  if (run.scene.points.empty() && !run.given.any()) {
    run.photo_points = points_of_photos(run);
    if (!run.photo_points.empty()) make_plan(run, run.plan.left_out);
  }
  check_tile_size(run);
  for (const std::string& warning : run.plan.warnings) messages().warn("{}", warning);
  if (const std::string note = plane_limit_note(run.plan); !note.empty()) messages().info("{}", note);
}

}  // namespace recon

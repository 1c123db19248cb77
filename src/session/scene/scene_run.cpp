#include "session/scene/scene_run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/aligned_buffer.hpp"
#include "core/content_hash.hpp"
#include "core/log_file.hpp"
#include "core/paths.hpp"
#include "core/system_limits.hpp"
#include "core/version.hpp"
#include "io/colmap_model.hpp"
#include "io/mvsnet_model.hpp"
#include "io/nerf_model.hpp"
#include "io/output_file.hpp"
#include "session/plan/plan_time.hpp"
#include "session/plan/step_clock.hpp"
#include "session/report/report.hpp"
#include "session/scene/calibration.hpp"
#include "session/scene/photo_fit.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/session.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_finite(const Pose& pose) {
  const auto& [x, y, z] = pose.translation;
  return std::isfinite(x) && std::isfinite(y) && std::isfinite(z) &&
         std::ranges::all_of(pose.rotation.m, [](double v) { return std::isfinite(v); });
}

Scene read_model(const SceneFolder& folder, std::size_t memory_limit) {
  switch (folder.format) {
    case SceneFormat::kNerf:
      return read_nerf_model(folder.model, memory_limit, folder.images_given ? folder.images : fs::path());
    case SceneFormat::kMvsnet:
      return read_mvsnet_model(folder.model, folder.images, memory_limit);
    case SceneFormat::kColmap:
      break;
  }
  return read_colmap_model(folder.model, memory_limit);
}

void check_poses(const Scene& scene, const SceneFolder& folder) {
  for (const View& view : scene.views)
    if (!is_finite(view.cam_from_world))
      throw InputError(folder.model.string() + ": the pose of " + view.name +
                       " is not finite; remove the view or correct it");
}

/// Why a view cannot be used, by its name and the presence of its photo; empty if it can.
std::optional<std::string> fault_of_photo(const SceneRun& run, const View& view) {
  const fs::path file = run.folder.images / view.photo_file();
  try {
    if (!is_there_to_read(file))
      return file.string() + ": there is no such photo" + similar_photo(run.folder, file, view.name);
  } catch (const InputError& error) {
    return error.what();
  }
  if (const std::size_t bytes = file.filename().string().size(); bytes > Workspace::kMaxNameBytes)
    return file.string() + ": its name has " + std::to_string(bytes) + " bytes; with at most " +
           std::to_string(Workspace::kMaxNameBytes) + " the files made from it can be named after it";
  return std::nullopt;
}

bool is_among(const std::vector<LeftOut>& views, const std::string& name) {
  return std::ranges::any_of(views, [&](const LeftOut& view) { return view.name == name; });
}

/// Views whose photo is not there, or has a name that is too long, and those that the model lacks for the
/// same reason.
std::vector<LeftOut> unusable_photos(const SceneRun& run) {
  std::vector<LeftOut> unusable = run.scene.unusable;
  for (const View& view : run.scene.views)
    if (const auto fault = fault_of_photo(run, view)) unusable.push_back({view.name, *fault});
  for (const LeftOut& view : unusable) spdlog::warn("{} is left out: {}", view.name, view.reason);
  if (!run.scene.views.empty() && unusable.size() == run.scene.views.size() + run.scene.unusable.size())
    throw InputError(run.folder.images.string() + ": none of the " + std::to_string(unusable.size()) +
                     " photos of the model can be used, such as " + unusable.front().reason);
  return unusable;
}

std::string names_of(const Backends& backends) {
  std::string names;
  for (const auto& backend : backends) names += (names.empty() ? "" : "; ") + backend->name();
  return names;
}

void share_memory(SceneRun& run, const Backends& backends) {
  run.memory = plan_memory(run.plan, run.options, backends, run.memory.limit, run.threads);
  return_freed_memory(run.memory.returned_block);
  if (run.memory.fusion_files > 0)
    run.workspace.check_free_space(output_bytes(run.plan, run.options) + run.memory.fusion_files);
  run.photos.set_budget(run.memory.photo_cache);
  const auto cache = std::make_shared<MapCache>(run.memory.map_cache);
  run.photometric = std::make_unique<MapStore>(run.workspace, MapKind::kPhotometric, cache);
  run.geometric = std::make_unique<MapStore>(run.workspace, MapKind::kGeometric, cache);
}

/// The predicted time of a finished run; its measured times correct the predictions of later runs.
TimePlan predicted_time(const SceneRun& run, const SharedWork& work, const StepTimes& times) {
  const Backends& backends = work.backends();
  const RemainingWork done = work_done(run);
  const CalibrationKey key = calibration_key(backends, run.threads);
  PerformanceModel model = load_calibration(key);
  const TimePlan plan =
      plan_time(run, done, backends, model, {work.start, times.front().second, work.devices.get().seconds});
  // Processes that work beside each other are slower than one alone.
  if (work.options.workers == 1 && learn_times(run, done, backends, times, model))
    save_calibration(key, model);
  return plan;
}

/// Predicts the steps to come, as if nothing of them were finished.
void predict_steps(SceneRun& run, const Backends& backends) {
  if (run.options.quiet) return;
  RemainingWork all;
  all.estimate = run.plan.active_views();
  all.check = run.plan.views_in_scope();
  all.fuse = true;
  const PerformanceModel model = load_calibration(calibration_key(backends, run.threads));
  run.predicted_steps = plan_time(run, all, backends, model, {}).steps;
}

/// Parts of one run estimate depth maps concurrently in one folder.
OutputAccess output_access(const SceneRun& run) {
  OutputAccess access{OutputKind::kScene, run.options.overwrite, run.options.wait, {}};
  if (run.options.stage == Stage::kEstimate)
    access.shared_key = content_hash(version() + std::string("\n") +
                                     resolved_options(run.options, run.job, OptionScope::kResults));
  return access;
}

/// Ends a step of a scene.
void end_step(StepClock& clock, const char* step) {
  clock.end(step);
  release_kept_memory();  // the next step's arrays are of other sizes
}

/// Depth maps, checks and cloud.
void estimate_and_fuse(SceneRun& run, const Backends& backends, StepClock& clock) {
  SceneGraph graph(run, backends);
  if (run.options.stage != Stage::kFuse) estimate_views(graph);
  end_step(clock, "depth maps");
  if (run.options.stage == Stage::kEstimate) return;
  check_views(graph);
  check_agreement(run);
  end_step(clock, "check across views");
  fuse_views(graph);
  end_step(clock, "fusion");
  tile_cloud(run);
  if (run.tiles) end_step(clock, "tiles");
}

/// The steps of a scene in its output folder.
void do_steps(SceneRun& run, const SharedWork& work, StepClock& clock) {
  prepare_views(run);
  check_photos_fit(run);
  write_dense_model(run);
  end_step(clock, "undistorting");
  const Backends& backends = work.backends();
  share_memory(run, backends);
  end_step(clock, "opening the device");
  spdlog::debug("working on {}", work.choice.get().reason);
  spdlog::debug("device: {}", names_of(backends));
  predict_steps(run, backends);
  estimate_and_fuse(run, backends, clock);
}

/// A scene from its model to its reports; returns its report.
json work_on(SceneRun& run, const SharedWork& work, LogFile& log) {
  StepClock clock;
  read_scene(run);
  end_step(clock, "reading the model");
  work.require_device();
  const TakenOutput output = take_output(run.workspace, output_access(run));
  if (output.lock->waited() && !run.options.memory_limit) run.memory.limit = available_memory();
  run.workspace.check_free_space(output_bytes(run.plan, run.options));
  // Opening a GPU overlaps with undistortion; without one, the memory plan can be made now.
  if (work.without_gpu())
    share_memory(run, work.backends());
  else
    run.photos.set_budget(run.memory.limit / 8);
  if (run.options.stage == Stage::kFuse) {
    // Nothing is written before the depth maps are known to belong to this run.
    check_photos(run);
    collect_estimates(run);
  }
  mark_output(run.workspace, OutputKind::kScene);
  log.open(report_file(run, ".log"));
  spdlog::debug("reconstruct {} ({}), {} threads", version(), run.options.commit, run.threads);
  if (output.has_results) set_reports_aside(run);
  write_file_if_changed(run.workspace.path("options.toml"), resolved_options(run.options, run.job));
  try {
    do_steps(run, work, clock);
  } catch (...) {
    keep_times(run, clock.unfinished());
    throw;
  }
  json report = report_json(run, names_of(work.backends()), clock.times());
  report["predicted"] = time_json(predicted_time(run, work, clock.times()));
  write_reports(run, report);
  return report;
}

std::string summary(const SceneRun& run, const json& report) {
  const std::size_t views = report.at("views").size(), left_out = report.at("left_out").size();
  std::string line = report.contains("points")
                         ? fmt::format("{}: {} points from", report.at("cloud").get<std::string>(),
                                       report.at("points").get<std::uint64_t>())
                         : report.at("output").get<std::string>() + ": depth maps of";
  line += fmt::format(" {} views in {:.1f} s", views, report.at("elapsed").get<double>());
  if (left_out > 0) line += fmt::format(", {} left out", left_out);
  return line + "; see " + report_file(run, ".html").string() + "\n";
}

/// The plan of a scene and its predicted time.
Outcome plan_scene(SceneRun& run, const SharedWork& work) {
  StepClock clock;
  read_scene(run);
  clock.end("reading the model");
  const Backends& backends = work.backends();
  share_memory(run, backends);
  if (run.options.stage == Stage::kFuse) {
    check_photos(run);
    collect_estimates(run);
  }
  const RemainingWork remaining = remaining_work(run);
  const PerformanceModel model = load_calibration(calibration_key(backends, run.threads));
  const BeginningTimes beginning{work.start, clock.times().front().second, work.devices.get().seconds};
  const TimePlan time = plan_time(run, remaining, backends, model, beginning);
  return {0, plan_json(run, time), plan_text(run, time)};
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
             session_options.swept_by_patches(job) ? session_options.sweep_stages.patch_match.levels : 0, 0) {
}

void SceneRun::warn(const std::string& text) {
  spdlog::warn("{}", text);
  const std::lock_guard lock(warnings_mutex);
  warnings.push_back(text);
}

double SceneRun::predicted(std::string_view step, int views, int of_all) const {
  for (const auto& [name, seconds] : predicted_steps)
    if (name == step) return std::max(0.0, seconds * views / std::max(1, of_all));
  return 0;
}

FinishedStep find_finished(const SceneRun& run, Step step, int view, const nlohmann::json& inputs) {
  return find_finished(run.workspace, run.options.overwrite, run.record_file(step, view), inputs);
}

void make_plan(SceneRun& run, const std::vector<LeftOut>& left_out) {
  try {
    run.plan = make_plan(run.scene, left_out, run.options);
  } catch (const InputError& error) {
    throw InputError(run.folder.model.string() + ": " + error.what());
  }
}

void read_scene(SceneRun& run) {
  run.scene = read_model(run.folder, model_memory(run.memory.limit));
  for (const std::string& warning : run.folder.warnings) run.warn(warning);
  for (const std::string& warning : run.scene.warnings) run.warn(warning);
  check_poses(run.scene, run.folder);
  std::vector<LeftOut> left_out = unusable_photos(run);
  fit_cameras(run, left_out);
  for (const LeftOut& view : read_masks(run)) {
    if (is_among(left_out, view.name)) continue;
    spdlog::warn("{} is left out: {}", view.name, view.reason);
    left_out.push_back(view);
  }
  inspect_photos(run, left_out);
  check_calibration(run, left_out);
  make_plan(run, left_out);
  check_tile_size(run);
  for (const std::string& warning : run.plan.warnings) spdlog::warn("{}", warning);
  if (const std::string note = plane_limit_note(run.plan); !note.empty()) spdlog::info("{}", note);
}

Outcome do_scene(const SceneFolder& folder, const SharedWork& work, LogFile& log,
                 std::vector<std::string>& warnings) {
  SceneRun run(work.options, folder, Workspace(output_path(work.options, folder, work.in_session)),
               work.threads);
  run.memory.limit = work.memory_limit;
  return_freed_memory();  // until the plan says that memory is ample
  Outcome outcome;
  try {
    if (work.options.dry_run) {
      outcome = plan_scene(run, work);
    } else {
      outcome.object = work_on(run, work, log);
      outcome.text = summary(run, outcome.object);
    }
  } catch (const Error&) {
    warnings = run.warnings;
    throw;
  }
  outcome.exit_code = run.complete() ? 0 : kSomeFailed;
  return outcome;
}

}  // namespace recon

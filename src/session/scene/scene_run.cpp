#include "session/scene/scene_run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <utility>

#include "core/aligned_buffer.hpp"
#include "core/content_hash.hpp"
#include "core/log_file.hpp"
#include "core/system_limits.hpp"
#include "core/version.hpp"
#include "io/output_file.hpp"
#include "session/plan/plan_time.hpp"
#include "session/plan/step_clock.hpp"
#include "session/report/report.hpp"
#include "session/scene/fuse_views.hpp"
#include "session/shared_work.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

fs::path report_file(const SceneRun& run, const char* extension) {
  const auto [index, count] = run.options.shard;
  const std::string name = count == 1 ? "report" : fmt::format("report-{}-of-{}", index, count);
  return run.workspace.path(name + extension);
}

/// Where the page of an earlier run is meanwhile.
fs::path set_aside(const fs::path& page) {
  return page.parent_path() / "status" / page.filename();
}

/// The last line of a page: a hash of what it shows, without what only this run did.
std::string page_key(const SceneRun& run, json report) {
  for (const char* times : {"seconds", "predicted"}) report.erase(times);
  for (json& view : report.at("views")) view.erase("kept");
  if (run.cloud)
    for (const OutputFile& file : run.cloud->record.outputs) report["files"].push_back(file.identity.hash);
  return "<!-- " + content_hash(json_text(report)) + " -->\n";
}

/// Whether a page ends with a key; false also where it cannot be read.
bool has_key(const fs::path& page, const std::string& key) {
  std::ifstream file(page, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(key.size()), std::ios::end);
  std::string end(key.size(), '\0');
  return file.read(end.data(), static_cast<std::streamsize>(end.size())) && end == key;
}

/// Where nothing was done, the page of the run that did it is kept, which has its times.
void write_reports(const SceneRun& run, const json& report) {
  write_file(report_file(run, ".json"), json_text(report));
  const fs::path page = report_file(run, ".html"), earlier = set_aside(page);
  const std::string key = page_key(run, report);
  const RemainingWork done = work_done(run);
  const bool nothing = done.estimate.empty() && done.check.empty() && !done.fuse;
  if (nothing && has_key(earlier, key)) {
    std::error_code error;
    fs::rename(earlier, page, error);
    if (!error) return;
  }
  write_file(page, report_html(report, view_of_cloud(run)) + key);
  remove_result(earlier);
}

/// The reports of an earlier run do not hold for a run that fails or is interrupted.
void remove_reports(const SceneRun& run) {
  remove_result(report_file(run, ".json"));
  const fs::path page = report_file(run, ".html");
  std::error_code error;
  fs::rename(page, set_aside(page), error);
  if (error) remove_result(page);
}

/// The predicted time of a finished run; its measured times correct the predictions of later runs.
TimePlan predicted_time(const SceneRun& run, const SharedWork& work, const StepTimes& times) {
  const Backends& backends = work.backends();
  const RemainingWork done = work_done(run);
  const CalibrationKey key = calibration_key(backends, run.threads);
  PerformanceModel model = load_calibration(key);
  const TimePlan plan =
      plan_time(run, done, backends, model, {work.start, times.front().second, work.devices.get()->seconds});
  if (learn_times(run, done, backends, times, model)) save_calibration(key, model);
  return plan;
}

/// Parts of one run estimate depth maps concurrently in one folder.
OutputAccess output_access(const SceneRun& run) {
  OutputAccess access{OutputKind::kScene, run.options.overwrite, run.options.wait, {}};
  if (run.options.stage == Stage::kEstimate)
    access.shared_key = content_hash(version() + std::string("\n") +
                                     resolved_options(run.options, run.job, OptionScope::kResults));
  return access;
}

/// The steps of one scene; returns its report.
json work_on(SceneRun& run, const SharedWork& work, LogFile& log) {
  StepClock clock;
  const auto end_step = [&clock](const char* step) {
    clock.end(step);
    release_kept_memory();  // the next step's arrays are of other sizes
  };
  read_scene(run);
  end_step("reading the model");
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
  spdlog::debug("reconstruct {}, {} threads", version(), run.threads);
  if (output.has_results) remove_reports(run);
  write_file_if_changed(run.workspace.path("options.toml"), resolved_options(run.options, run.job));
  prepare_views(run);
  write_dense_model(run);
  end_step("undistorting");
  const Backends& backends = work.backends();
  share_memory(run, backends);
  end_step("opening the device");
  spdlog::debug("working on {}", work.choice.get().reason);
  spdlog::debug("device: {}", names_of(backends));
  ViewChecks checks(run, backends);
  ViewFusion fusion(run);
  const bool check = run.options.stage != Stage::kEstimate;
  if (run.options.stage == Stage::kAll) fusion.begin_beside(checks);
  if (run.options.stage != Stage::kFuse) estimate_views(run, backends, check ? &checks : nullptr);
  end_step("depth maps");
  if (check) {
    checks.finish();
    end_step("check across views");
    fusion.finish();
    end_step("fusion");
    tile_cloud(run);
    if (run.tiles) end_step("tiles");
  }
  json report = report_json(run, names_of(backends), clock.times());
  report["predicted"] = time_json(predicted_time(run, work, clock.times()));
  write_reports(run, report);
  return report;
}

std::string summary(const json& report) {
  const std::size_t views = report.at("views").size(), left_out = report.at("left_out").size();
  std::string line = report.contains("points")
                         ? fmt::format("{}: {} points from", report.at("cloud").get<std::string>(),
                                       report.at("points").get<std::uint64_t>())
                         : report.at("output").get<std::string>() + ": depth maps of";
  line += fmt::format(" {} views in {:.1f} s", views, report.at("seconds").at("total").get<double>());
  if (left_out > 0) line += fmt::format(", {} left out", left_out);
  return line + "\n";
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
  const BeginningTimes beginning{work.start, clock.times().front().second, work.devices.get()->seconds};
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

FinishedStep find_finished(const SceneRun& run, Step step, int view, const nlohmann::json& inputs) {
  return find_finished(run.workspace, run.options.overwrite, run.record_file(step, view), inputs);
}

Outcome do_scene(const SceneFolder& folder, const SharedWork& work, LogFile& log) {
  SceneRun run(work.options, folder, Workspace(output_path(work.options, folder, work.several_inputs)),
               work.threads);
  run.memory.limit = work.memory_limit;
  return_freed_memory();  // until the plan says that memory is ample
  Outcome outcome;
  if (work.options.dry_run) {
    outcome = plan_scene(run, work);
  } else {
    outcome.object = work_on(run, work, log);
    outcome.text = summary(outcome.object);
  }
  outcome.exit_code = run.complete() ? 0 : kSomeFailed;
  return outcome;
}

}  // namespace recon

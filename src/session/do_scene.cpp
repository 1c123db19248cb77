#include <fmt/format.h>

#include <utility>

#include "core/aligned_buffer.hpp"
#include "core/content_hash.hpp"
#include "core/log.hpp"
#include "core/log_file.hpp"
#include "core/system_limits.hpp"
#include "core/version.hpp"
#include "io/file/output_file.hpp"
#include "session/input.hpp"
#include "session/plan/step_clock.hpp"
#include "session/report/report.hpp"
#include "session/scene/calibration.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/plan_time.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_run.hpp"
#include "session/session.hpp"

namespace recon {

namespace {

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
  run.maps.set_budget(run.memory.map_cache);
}

/// The predicted time of a finished run; its measured times correct the predictions of later runs.
TimePlan predicted_time(const SceneRun& run, const SharedWork& work, const StepTimes& times) {
  const Backends& backends = work.backends();
  const SceneWork done = work_done(run);
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
  const PerformanceModel model = load_calibration(calibration_key(backends, run.threads));
  const SceneWork work = all_work(run);
  TimePlan time = plan_time(run, work, backends, model, {});
  run.predicted_steps = time.steps;
  if (run.results.count(Step::kPrepare).kept > 0) return;  // some of it is finished, and would be done again
  add_smaller_images(run, work, backends, model, {}, time);
  if (time.smaller)
    messages().info("{}: about {:.0f} min are predicted; {}", run.folder.root.string(), time.total / 60,
                    smaller_images_text(time));
}

/// Parts of one run estimate depth maps concurrently in one folder.
OutputAccess output_access(const SceneRun& run) {
  OutputAccess access{OutputKind::kScene, run.options.overwrite, run.options.wait, {}};
  if (!run.does(Step::kCheck))
    access.shared_key = content_hash(version() + std::string("\n") +
                                     resolved_options(run.options, run.job, OptionScope::kResults));
  return access;
}

/// A step of a scene, which adds its tasks to the graph and waits for them.
struct GraphStep {
  Step step;
  void (*run)(SceneGraph& graph);
};

/// In their order; those that the run does not do are left out.
constexpr GraphStep kGraphSteps[] = {{Step::kEstimate,
                                      [](SceneGraph& graph) {
                                        add_dense_model(graph);
                                        add_photo_check(graph);
                                        check_given_maps(graph.run);
                                        estimate_views(graph);
                                        name_empty_photos(graph.run);
                                      }},
                                     {Step::kCheck,
                                      [](SceneGraph& graph) {
                                        check_views(graph);
                                        check_agreement(graph.run);
                                      }},
                                     {Step::kFusion,
                                      [](SceneGraph& graph) {
                                        fuse_views(graph);
                                        if (!graph.run.does(Step::kTiles)) remove_tiles(graph.run);
                                        if (!graph.run.does(Step::kExport)) remove_exported_points(graph.run);
                                      }},
                                     {Step::kTiles, [](SceneGraph& graph) { tile_cloud(graph.run); }},
                                     {Step::kExport, [](SceneGraph& graph) { export_points(graph.run); }}};

/// The steps of a scene in its output folder.
void do_steps(SceneRun& run, const SharedWork& work, LogFile& log, StepClock& clock) {
  const auto measure = [&](const char* name, const auto& step) {
    clock.measure(name, step);
    release_kept_memory();  // the next step's arrays are of other sizes
  };
  measure(step_name(Step::kPrepare), [&] { prepare_views(run); });
  measure("opening the device", [&] { share_memory(run, work.backends()); });
  const Backends& backends = work.backends();
  log.add("working on " + work.choice.get().reason);
  log.add("device: " + names_of(backends));
  predict_steps(run, backends);
  SceneGraph graph(run, backends);
  // The photos are compared with the cameras in the first step, also where its depth maps are there.
  for (const auto& [step, run_step] : kGraphSteps)
    if (step == Step::kEstimate || run.does(step)) measure(step_name(step), [&] { run_step(graph); });
}

/// A scene from its model to its reports; returns its report.
json work_on(SceneRun& run, const SharedWork& work, LogFile& log) {
  StepClock clock;
  read_scene(run);
  clock.end("reading the model");
  release_kept_memory();
  work.require_device();
  check_inputs_stay(run);
  const TakenOutput output = take_output(run.workspace, output_access(run));
  if (output.lock->waited() && !run.options.memory_limit) run.memory.limit = available_memory();
  run.workspace.check_free_space(output_bytes(run.plan, run.options));
  // Looking for a GPU and opening it overlaps with undistortion; with --device cpu, too little memory is
  // found now.
  if (work.without_gpu())
    share_memory(run, work.backends());
  else
    run.photos.set_budget(run.memory.limit / 8);
  collect_estimates(run);  // nothing is written before they are known to belong to this run
  check_folders(run);
  mark_output(run.workspace, OutputKind::kScene, files_to_write(run));
  log.open(report_file(run.workspace, run.options.shard, ".log"));
  work.notice->permit();
  log.add(fmt::format("reconstruct {} ({}), {} threads", version(), run.options.commit, run.threads));
  if (output.has_results) set_reports_aside(run.workspace, run.options.shard);
  write_file_if_changed(run.workspace.path("options.toml"), resolved_options(run.options, run.job));
  try {
    do_steps(run, work, log, clock);
  } catch (...) {
    keep_times(run.workspace, run.options, run.results, clock.times());
    throw;
  }
  if (run.does(Step::kFusion)) remove_files_of_departed_views(run);
  check_results_are_there(run);
  json report = report_json(run, names_of(work.backends()), clock.times());
  report["predicted"] = time_json(predicted_time(run, work, clock.times()));
  write_reports(run.workspace, run.options, run.plan, run.results, report);
  output.finish();
  return report;
}

std::string summary(const SceneRun& run, const json& report) {
  const std::size_t views = report.at("views").size() - run.failed.size();
  const std::size_t left_out = report.at("left_out").size();
  std::string line = report.contains("points")
                         ? fmt::format("{}: {} points from", report.at("cloud").get<std::string>(),
                                       report.at("points").get<std::uint64_t>())
                         : report.at("output").get<std::string>() + ": depth maps of";
  line +=
      fmt::format(" {} view{} in {:.1f} s", views, views == 1 ? "" : "s", report.at("elapsed").get<double>());
  if (left_out > 0) line += fmt::format(", {} left out", left_out);
  return line + "\n";
}

/// The plan of a scene and its predicted time.
Outcome plan_scene(SceneRun& run, const SharedWork& work) {
  StepClock clock;
  read_scene(run);
  clock.end("reading the model");
  check_inputs_stay(run);
  work.notice->permit();
  const Backends& backends = work.backends();
  share_memory(run, backends);
  collect_estimates(run);
  check_given_headers(run);
  const SceneWork remaining = remaining_work(run);
  const PerformanceModel model = load_calibration(calibration_key(backends, run.threads));
  const BeginningTimes beginning{work.start, clock.times().front().second, work.devices.get().seconds};
  TimePlan time = plan_time(run, remaining, backends, model, beginning);
  add_smaller_images(run, remaining, backends, model, beginning, time);
  return {0, plan_json(run, time), plan_text(run, time)};
}

}  // namespace

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
      outcome.report = report_file(run.workspace, run.options.shard, ".html").string();
    }
  } catch (const Error&) {
    warnings = run.warnings;
    throw;
  }
  outcome.exit_code = run.complete() ? 0 : kSomeFailed;
  return outcome;
}

}  // namespace recon

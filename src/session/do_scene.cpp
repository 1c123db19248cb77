#include <fmt/format.h>

#include "core/aligned_buffer.hpp"
#include "core/arena.hpp"
#include "core/content_hash.hpp"
#include "core/duration.hpp"
#include "core/log.hpp"
#include "core/log_file.hpp"
#include "core/paths.hpp"
#include "core/progress.hpp"
#include "core/system_limits.hpp"
#include "core/version.hpp"
#include "io/file/output_file.hpp"
#include "session/destination.hpp"
#include "session/diagnose/agreement.hpp"
#include "session/diagnose/given_depths.hpp"
#include "session/diagnose/photo_check.hpp"
#include "session/plan/step_clock.hpp"
#include "session/report/report.hpp"
#include "session/resume/step_record.hpp"
#include "session/scene/exports.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/plan_time.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_job.hpp"
#include "session/scene/scene_work.hpp"
#include "session/session.hpp"

namespace recon {

namespace {

using nlohmann::json;

void share_memory(SceneJob& job, const Backends& backends) {
  job.memory = plan_memory(job.plan, job.settings, backends, job.host);
  return_freed_memory(job.memory.returned_block);
  if (job.memory.fusion_files > 0)
    job.products.workspace.check_free_space(output_bytes(job.plan, job.settings) + job.memory.fusion_files);
  job.products.photos.set_budget(job.memory.photo_cache);
  job.products.maps.set_budget(job.memory.map_cache);
}

/// The predicted time of a finished run; its measured times correct the predictions of later runs.
TimePlan predicted_time(const SceneJob& job, const SharedWork& work, const Turn& turn,
                        const StepTimes& times) {
  const Backends& backends = work.backends();
  const SceneWork done = work_done(job.targets, job.products);
  const CalibrationKey key = calibration_key(backends, job.host.threads);
  PerformanceModel model = load_calibration(key);
  const TimePlan plan =
      plan_time(job, done, backends, model, {work.start, times.front().second, work.devices.get().seconds});
  // Beside others a scene takes longer than alone.
  if (turn.alone() && learn_times(job, done, backends, times, model)) save_calibration(key, model);
  return plan;
}

/// Predicts the steps to come, as if nothing of them were finished.
void predict_steps(SceneJob& job, const Backends& backends) {
  if (job.quiet) return;
  const PerformanceModel model = load_calibration(calibration_key(backends, job.host.threads));
  const SceneWork work = all_work(job.targets, job.plan);
  TimePlan time = plan_time(job, work, backends, model, {});
  job.predicted_steps = time.steps;
  if (job.products.results.count(Step::kPrepare).kept > 0)
    return;  // some of it is finished, and would be done again
  if (const std::string reduced = reduced_images_text(job.plan, job.settings.plan.images); !reduced.empty())
    messages().info("{}: {}", job.input.folder.root.string(), reduced);
  add_smaller_images(job, work, backends, model, {}, time);
  if (time.smaller)
    messages().info("{}: about {} are predicted; {}", job.input.folder.root.string(),
                    duration_text(time.total), smaller_images_text(time));
}

/// Parts of one run estimate depth maps concurrently in one folder.
OutputAccess output_access(const SceneJob& job) {
  OutputAccess access{OutputKind::kScene,
                      job.options.overwrite,
                      job.options.wait,
                      {},
                      files_to_write(job.output()),
                      {resolved_path(job.input.folder.root).string()}};
  if (!job.targets.does(Step::kCheck))
    access.shared_key =
        content_hash(version() + std::string("\n") +
                     job.options.resolved({job.settings.matching.method, false}, OptionScope::kResults));
  return access;
}

/// A step of a scene, which adds its tasks to the graph and waits for them.
struct GraphStep {
  Step step;
  void (*run)(SceneGraph& graph);
};

/// In their order; those that the run does not do are left out.
constexpr GraphStep kGraphSteps[] = {
    {Step::kEstimate,
     [](SceneGraph& graph) {
       add_dense_model(graph);
       add_photo_check(graph);
       check_given_maps(graph.job.input, graph.job.plan, graph.job.settings, graph.job.findings);
       estimate_views(graph);
       name_empty_photos(graph.job.products, graph.job.input.folder.root.string(), graph.job.findings);
     }},
    {Step::kPlanes, find_planes},
    {Step::kCheck,
     [](SceneGraph& graph) {
       check_views(graph);
       SceneJob& job = graph.job;
       check_agreement({job.input, job.products, job.settings.plan.selection, job.host}, job.findings);
     }},
    {Step::kFusion,
     [](SceneGraph& graph) {
       fuse_views(graph);
       SceneJob& job = graph.job;
       for (const Step step : {Step::kTiles, Step::kExport})
         if (!job.targets.does(step)) remove_extra(job.products, step, false);
     }},
    {Step::kTiles,
     [](SceneGraph& graph) {
       tile_cloud(graph.job.products, graph.job.inputs, graph.job.settings.cloud.tile);
     }},
    {Step::kExport, [](SceneGraph& graph) {
       SceneJob& job = graph.job;
       export_splat(job.products, job.inputs, job.settings.cloud, job.host.memory, job.findings);
     }}};

/// Whether a scene may be worked on beside others: its share of the memory holds all maps, and it is small.
bool suits_a_share(const SceneJob& job, const Backends& backends) {
  constexpr double kMaxSeconds = 60;
  const PerformanceModel model = load_calibration(calibration_key(backends, job.host.threads));
  const bool fits = plan_memory(job.plan, job.settings, backends, job.host).keeps_maps;
  const double seconds = plan_time(job, all_work(job.targets, job.plan), backends, model, {}).total;
  messages().debug("beside others: its share of the memory {}, about {:.1f} s are predicted",
                   fits ? "suffices" : "is too small", seconds);
  return fits && seconds <= kMaxSeconds;
}

/// Sets what depends on whether others are worked on side by side.
void set_turn(SceneJob& job, const Turn& turn) {
  job.host = {turn.memory(), turn.threads()};
  // Lines of several scenes at once say nothing to people.
  job.quiet =
      job.options.quiet || (!turn.alone() && progress_style(job.options.quiet) == ProgressStyle::kLines);
}

/// The steps of a scene in its output folder.
void do_steps(SceneJob& job, const SharedWork& work, Turn& turn, LogFile& log, StepClock& clock) {
  const auto measure = [&](const char* name, const auto& step) {
    clock.measure(name, step);
    if (turn.alone()) release_kept_memory();  // the next step's arrays are of other sizes
  };
  measure(step_name(Step::kPrepare), [&] { job.prepare(true); });
  const auto do_others = [&] {
    measure("opening the device", [&] { share_memory(job, work.backends()); });
    const Backends& backends = work.backends();
    log.add("working on " + work.choice.get().reason);
    log.add("device: " + names_of(backends));
    predict_steps(job, backends);
    SceneGraph graph(job, backends);
    // The photos are compared with the cameras in the first step, also where its depth maps are there.
    for (const auto& [step, run_step] : kGraphSteps)
      if (step == Step::kEstimate || job.targets.does(step))
        measure(step_name(step), [&] { run_step(graph); });
  };
  if (turn.alone() || suits_a_share(job, work.backends())) return do_others();
  turn.take_alone();
  set_turn(job, turn);
  Arena arena(turn.threads());
  arena.execute(do_others);
}

/// @throws OutputError where there is too little space; the cloud of an earlier run stays until this one's is
/// complete
void check_free_space(const SceneJob& job) {
  std::uint64_t bytes = output_bytes(job.plan, job.settings);
  for (const CloudFile& file : cloud_files()) {
    std::error_code error;
    const std::uintmax_t earlier = std::filesystem::file_size(job.products.workspace.path(file.name), error);
    if (!error) bytes += earlier;
  }
  job.products.workspace.check_free_space(bytes);
}

/// Says that a cloud is there which this run does not make again.
void name_earlier_cloud(const SceneJob& job) {
  const Workspace& workspace = job.products.workspace;
  const std::filesystem::path cloud = workspace.path(Workspace::cloud_file());
  const bool whole = job.options.shard.count == 1;
  if (whole && read_record(workspace.path(Workspace::record_file(Step::kFusion))) &&
      job.products.results.count(Step::kEstimate).done > 0)
    messages().info("{}: it is of earlier depth maps; the same command without --stage makes it again",
                    cloud.string());
}

/// Says which files that somebody has changed are kept under other names.
void name_changed_files(SceneJob& job) {
  for (const std::string& text : job.products.results.take_changed()) job.findings.warn(text);
}

/// A scene from its model to its reports; returns its report.
json work_on(SceneJob& job, const SharedWork& work, Turn& turn, LogFile& log) {
  StepClock clock;
  set_turn(job, turn);
  job.read();
  clock.end("reading the model");
  if (turn.alone()) release_kept_memory();
  work.require_device();
  check_inputs_stay(job.output(), job.input);
  const OutputAccess access = output_access(job);
  const TakenOutput output = take_output(job.products.workspace, access);
  if (turn.alone() && output.lock->waited() && !job.options.memory_limit)
    job.host.memory = available_memory();
  check_free_space(job);
  // Looking for a GPU and opening it overlaps with undistortion; with --device cpu, too little memory is
  // found now.
  if (work.without_gpu())
    share_memory(job, work.backends());
  else
    job.products.photos.set_budget(job.host.memory / 8);
  check_folders(job.output(), is_of_others(job.products.workspace, access));
  job.collect_estimates();  // nothing is written before they are known to belong to this run
  mark_output(job.products.workspace, access.kind, access.files, access.inputs);
  if (job.products.results.overwrites()) supersede(job.targets, job.products);
  job.overwrite_note.remove();
  log.open(report_file(job.products.workspace, job.options.shard, ".log"));
  work.notice->permit();
  log.add(fmt::format("reconstruct {} ({}), {} threads", version(), job.options.commit, job.host.threads));
  job.products.results.keep_changed({Step::kRun, report_files(job.options.shard).name});
  if (output.has_results) set_reports_aside(job.products.workspace, job.options.shard);
  job.products.results.write(options_files(), [&job] {
    write_file_if_changed(job.products.workspace.path(Workspace::options_file()),
                          job.options.resolved({job.settings.matching.method, false}));
  });
  try {
    do_steps(job, work, turn, log, clock);
  } catch (...) {
    name_changed_files(job);
    keep_times(job, clock.times());
    if (const Workspace& workspace = job.products.workspace;
        is_there(workspace.path(Workspace::record_file(Step::kFusion))) &&
        bring_page_back(workspace, job.options.shard))
      messages().info("{} and {} are those of the run before; maps may be newer",
                      workspace.path(Workspace::cloud_file()).string(),
                      report_file(workspace, job.options.shard, ".html").filename().string());
    throw;
  }
  if (job.targets.does(Step::kFusion))
    remove_files_of_departed_views(job.input, job.products);
  else
    name_earlier_cloud(job);
  name_changed_files(job);
  json report = report_json(job, names_of(work.backends()), clock.times());
  report["predicted"] = time_json(predicted_time(job, work, turn, clock.times()));
  check_results_are_there(job.products);  // the last thing before the reports
  job.products.results.write(report_files(job.options.shard), [&] { write_reports(job, report); });
  output.finish();
  return report;
}

/// How long a run took and, where it kept results, what all the work took; as the report's page has it.
static std::string time_text(const json& report) {
  const std::string text = fmt::format("{:.1f} s", report.at("elapsed").get<double>());
  const bool kept =
      std::ranges::any_of(report.at("views"), [](const json& view) { return view.value("kept", false); });
  return kept ? fmt::format("{} ({:.1f} s of work with earlier runs)", text,
                            report.at("seconds").at("total").get<double>())
              : text;
}

std::string summary(const SceneJob& job, const json& report) {
  const std::size_t views = report.at("views").size() - job.findings.failed.size();
  const json& left_out = report.at("left_out");
  std::string line = report.contains("points")
                         ? fmt::format("{}: {} points from", report.at("cloud").get<std::string>(),
                                       report.at("points").get<std::uint64_t>())
                         : report.at("output").get<std::string>() + ": depth maps of";
  line += fmt::format(" {} view{} in {}", views, views == 1 ? "" : "s", time_text(report));
  if (!left_out.empty()) {
    const std::string name = left_out.front().at("name");
    line += left_out.size() == 1 ? fmt::format("; {} is left out", name)
                                 : fmt::format("; {} are left out, such as {}", left_out.size(), name);
  }
  return line + doubt_and_warnings(report) + "\n";
}

/// The plan of a scene and its predicted time.
Outcome plan_scene(SceneJob& job, const SharedWork& work) {
  StepClock clock;
  job.read();
  clock.end("reading the model");
  check_inputs_stay(job.output(), job.input);
  const OutputAccess access = output_access(job);
  check_output(job.products.workspace, access);
  check_free_space(job);
  check_folders(job.output(), is_of_others(job.products.workspace, access));
  work.notice->permit();
  const Backends& backends = work.backends();
  share_memory(job, backends);
  job.collect_estimates();
  check_given_headers(job.input, job.plan, job.settings, job.products.workspace.root().string(),
                      job.findings);
  check_prior_headers(job.input, job.plan, job.findings);
  const SceneWork remaining = job.remaining_work();
  if (job.targets.does(Step::kCheck)) warn_of_min_views(job.plan, job.settings, job.findings);
  if (!remaining.at(Step::kFusion).empty())
    warn_of_min_fused_views(remaining.at(Step::kFusion).size(), job.settings, job.findings);
  const PerformanceModel model = load_calibration(calibration_key(backends, job.host.threads));
  const BeginningTimes beginning{work.start, clock.times().front().second, work.devices.get().seconds};
  TimePlan time = plan_time(job, remaining, backends, model, beginning);
  add_smaller_images(job, remaining, backends, model, beginning, time);
  return {0, plan_json(job, remaining, time), plan_text(job, remaining, time)};
}

}  // namespace

Outcome do_scene(const SceneFolder& folder, const SharedWork& work, Turn& turn,
                 std::vector<std::string>& warnings) {
  LogFile log;
  SceneJob job(work.options, folder,
               Workspace(Destination{work.options.inputs, work.options.output}.of(folder, work.in_session)),
               {turn.memory(), turn.threads()});
  return_freed_memory();  // until the plan says that memory is ample
  Outcome outcome;
  try {
    if (work.options.dry_run) {
      outcome = plan_scene(job, work);
    } else {
      outcome.object = work_on(job, work, turn, log);
      outcome.text = summary(job, outcome.object);
      outcome.report = report_file(job.products.workspace, job.options.shard, ".html").string();
    }
  } catch (const Error&) {
    warnings = job.findings.warnings;
    throw;
  }
  outcome.exit_code = job.complete() ? 0 : kSomeFailed;
  return outcome;
}

}  // namespace recon

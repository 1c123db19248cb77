#include "session/plan/plan_time.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/version.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/resume/step_inputs.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

bool has_results(const SceneRun& run) {
  std::error_code error;
  return !run.options.overwrite && fs::is_directory(run.workspace.path("status"), error);
}

using Backends = std::vector<std::unique_ptr<Backend>>;

constexpr HostCosts kCosts;

double pixels_of(const ViewPlan& view) {
  return static_cast<double>(view.camera.width) * view.camera.height;
}

/// Threads as the counts of stages have them: 0 for a GPU.
int stage_threads(const SceneRun& run) {
  return run.memory.device_peak > 0 ? 0 : run.threads;
}

bool sweeps(const SceneRun& run) {
  return run.job.method == Method::kPlaneSweep;
}

/// The calls of stages that a view takes.
std::vector<StageTask> view_tasks(const SceneRun& run, int view) {
  if (sweeps(run)) return {task_of(sweep_problem(run.plan, view, run.options), stage_threads(run))};
  PairOptions matching = pair_depth_options(run.options).matching;
  std::vector<StageTask> tasks;
  for (const ViewPair& it : run.plan.view(view).pairs) {
    matching.range = {it.pair.min_disparity, it.pair.disparities};
    tasks.push_back(pair_task(it.pair.left.width, it.pair.left.height, matching, stage_threads(run)));
  }
  return tasks;
}

/// Pixels of each view times the number of the others that it meets.
template <class Others>
double pixels_against(const SceneRun& run, const std::vector<int>& views, const Others& others) {
  double sum = 0;
  for (const int view : views) sum += pixels_of(run.plan.view(view)) * static_cast<double>(others(view));
  return sum;
}

/// Photos and model.
double undistorting_seconds(const SceneRun& run, const std::vector<int>& views) {
  double photos = 0, observations = 0;
  for (const int view : views) {
    const Camera& camera = run.plan.photo_camera(view);
    photos += kCosts.view_file + (run.plan.view(view).unchanged ? kCosts.photo_pixel : kCosts.warped_pixel) *
                                     camera.width * camera.height;
  }
  for (const View& view : run.plan.scene.views) observations += static_cast<double>(view.observations.size());
  return kCosts.view_file + (photos + kCosts.observation * observations) / run.threads;
}

/// Images made ready, filters and files of the depth maps.
double maps_host_seconds(const SceneRun& run, const std::vector<int>& views) {
  const double pixels = pixels_against(run, views, [&](int view) {
    const ViewPlan& plan = run.plan.view(view);
    return 1 + (sweeps(run) ? plan.sources.size() : 4 * plan.pairs.size());
  });
  return (kCosts.map_pixel * pixels + kCosts.view_file * static_cast<double>(views.size())) / run.threads;
}

double check_seconds(const SceneRun& run, const std::vector<int>& views) {
  // A GPU compares with all sources in less time than the host takes for one.
  const bool gpu = run.memory.device_peak > 0;
  const double pixels = pixels_against(
      run, views, [&](int view) { return gpu ? std::size_t{1} : run.plan.view(view).sources.size(); });
  return (kCosts.checked_pixel * pixels + kCosts.view_file * static_cast<double>(views.size())) / run.threads;
}

double fusion_seconds(const SceneRun& run) {
  const std::vector<std::vector<int>> overlaps = run.plan.overlaps();
  const double pixels = pixels_against(run, run.plan.views_in_scope(), [&](int view) {
    return overlaps[static_cast<std::size_t>(view)].size();
  });
  return kCosts.fused_pixel * pixels / run.threads;
}

bool calibrated(const std::vector<StageTask>& tasks, const PerformanceModel& model) {
  return std::all_of(tasks.begin(), tasks.end(),
                     [&](const StageTask& task) { return model.knows(task.stage, task.radius); });
}

/// The step of a run's depth maps by its stages. The proportion that runs have to a calibration is not the
/// one that they have to shipped figures.
std::string maps_step(const SceneRun& run, const RemainingWork& work, const PerformanceModel& model) {
  if (work.estimate.empty()) return "depth maps";
  const std::vector<StageTask> tasks = view_tasks(run, work.estimate.front());
  if (tasks.empty()) return "depth maps";
  return "depth maps: " + tasks.front().stage + (calibrated(tasks, model) ? ", calibrated" : "");
}

/// The depth maps: matching and what the host does, beside it where a GPU matches.
double maps_seconds(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                    const PerformanceModel& model) {
  double matching = 0;
  for (const int view : work.estimate)
    for (const StageTask& task : view_tasks(run, view))
      matching += predicted_seconds(model, task, stage_threads(run));
  const double host = maps_host_seconds(run, work.estimate);
  if (stage_threads(run) > 0) return matching + host;
  return std::max(matching / static_cast<double>(backends.size()), host);
}

/// Seconds of the steps that depend on the scene, before the proportions of earlier runs.
StepTimes step_seconds(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                       const PerformanceModel& model) {
  StepTimes steps = {
      {"undistorting", undistorting_seconds(run, work.prepare)},
      {maps_step(run, work, model), work.estimate.empty() ? 0 : maps_seconds(run, work, backends, model)}};
  if (run.options.stage == Stage::kEstimate) return steps;
  double check = work.check.empty() ? 0 : check_seconds(run, work.check);
  // Beside the estimation it takes no longer than the host waits for the devices.
  if (run.memory.checks_beside > 0 && !work.estimate.empty())
    check = std::max(0.0, check - (steps.back().second - maps_host_seconds(run, work.estimate)));
  steps.emplace_back("check across views", check);
  steps.emplace_back("fusion", work.fuse ? fusion_seconds(run) : 0);
  return steps;
}

TimeSource source_of(const SceneRun& run, const RemainingWork& work, const PerformanceModel& model) {
  if (work.estimate.empty()) return model.runs().empty() ? TimeSource::kShipped : TimeSource::kRuns;
  if (model.runs().contains(maps_step(run, work, model))) return TimeSource::kRuns;
  return calibrated(view_tasks(run, work.estimate.front()), model) ? TimeSource::kCalibration
                                                                   : TimeSource::kShipped;
}

}  // namespace

RemainingWork remaining_work(SceneRun& run) {
  RemainingWork work;
  const bool fuse_too = run.options.stage != Stage::kEstimate, estimate = run.options.stage != Stage::kFuse;
  work.fuse = fuse_too;
  if (!has_results(run)) {
    work.prepare = run.plan.needed_views();
    if (estimate) work.estimate = run.plan.active_views();
    if (fuse_too) work.check = run.plan.views_in_scope();
    return work;
  }
  check_photos(run);  // one that cannot be used is left out, as the run does
  for (const int view : run.plan.needed_views())
    if (!run.state(view).prepared) work.prepare.push_back(view);
  for (const int view : run.plan.views_in_scope()) {
    run.state(view).estimate = find_finished(run, Step::kEstimate, view, estimate_inputs(run, view)).record;
    if (estimate && run.plan.view(view).active && !run.state(view).estimate) work.estimate.push_back(view);
  }
  if (!fuse_too) return work;
  for (const int view : cleaned_but_needed(run)) {
    run.state(view).estimate.reset();
    if (estimate) work.estimate.push_back(view);
  }
  const std::vector<int> views = run.plan.views_in_scope();
  for (const int view : views) {
    run.state(view).check = finished_check(run, view).record;
    if ((estimate || run.state(view).estimate) && !run.state(view).check) work.check.push_back(view);
  }
  if (!work.check.empty()) return work;
  work.fuse = !find_finished(run.workspace, run.options.overwrite, Workspace::fusion_record_file(),
                             fusion_inputs(run, views))
                   .record;
  return work;
}

RemainingWork work_done(const SceneRun& run) {
  RemainingWork work;
  for (const int view : run.plan.views_in_scope()) {
    const ViewState& state = run.state(view);
    if (state.estimate && !state.estimate_kept) work.estimate.push_back(view);
    if (state.check && !state.check_kept) work.check.push_back(view);
  }
  const bool all = work.estimate.size() == run.plan.active_views().size();
  work.prepare = all ? run.plan.needed_views() : work.estimate;
  work.fuse = run.cloud && !run.cloud->kept;
  return work;
}

CalibrationKey calibration_key(const Backends& backends, int threads) {
  return {backends.front()->name(), threads, version()};
}

TimePlan plan_time(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                   const PerformanceModel& model, const BeginningTimes& beginning) {
  TimePlan plan;
  plan.source = source_of(run, work, model);
  plan.steps = {{"start", beginning.start}, {"reading the model", beginning.reading}};
  for (const auto& [step, seconds] : step_seconds(run, work, backends, model)) {
    const bool maps = step.starts_with("depth maps");
    if (maps)
      plan.steps.emplace_back("opening the device", std::max(0.0, beginning.opening - beginning.reading -
                                                                      plan.steps.back().second));
    plan.steps.emplace_back(maps ? "depth maps" : step, seconds * model.factor(step));
    if (maps && !work.estimate.empty())
      plan.a_view = plan.steps.back().second / static_cast<double>(work.estimate.size());
  }
  for (const auto& step : plan.steps) plan.total += step.second;
  return plan;
}

bool learn_times(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                 const StepTimes& times, PerformanceModel& model) {
  constexpr double kMinSeconds = 0.1;
  bool learnt = false;
  for (const auto& [step, predicted] : step_seconds(run, work, backends, model)) {
    const std::string name = step.starts_with("depth maps") ? "depth maps" : step;
    const auto measured =
        std::find_if(times.begin(), times.end(), [&](const auto& time) { return time.first == name; });
    if (measured == times.end() || measured->second < kMinSeconds || predicted <= 0) continue;
    model.learn(step, measured->second, predicted);
    learnt = true;
  }
  return learnt;
}

}  // namespace recon

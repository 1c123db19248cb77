#include "session/scene/plan_time.hpp"

#include <algorithm>

#include "core/paths.hpp"
#include "core/version.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

namespace {

/// Costs of the steps around matching, seconds of one thread per unit.
constexpr double kPhotoPixel = 6e-8;   ///< decoded, and written as it is
constexpr double kWarpedPixel = 5e-7;  ///< decoded, undistorted and encoded
constexpr double kObservation = 6e-7;  ///< of the model, undistorted and written
constexpr double kMapPixel = 1.1e-7;   ///< prepared and filtered: of a view and of each image matched with it
constexpr double kCheckedPixel = 2.2e-8;  ///< of a view, against each of its sources
constexpr double kFusedPixel = 1.9e-8;    ///< of a view, against each view that overlaps with it
constexpr double kViewFile = 0.01;        ///< fsync of a view's files, per write

/// Threads as the counts of stages have them: 0 for a GPU.
int stage_threads(const SceneRun& run) {
  return run.memory.device_peak > 0 ? 0 : run.threads;
}

/// The calls of stages that a view takes.
std::vector<StageTask> view_tasks(const SceneRun& run, int view) {
  if (run.job.method == Method::kPlaneSweep)
    return {sweep_task(sweep_shape(sweep_problem(run.plan, view, run.options)), stage_threads(run))};
  PairSpec matching(pair_depth_options(run.options).matching);
  std::vector<StageTask> tasks;
  for (const ViewPair& it : run.plan.view(view).pairs) {
    matching.range = {it.pair.min_disparity, it.pair.disparities};
    tasks.push_back(pair_task(it.pair.left.width, it.pair.left.height, matching, stage_threads(run)));
  }
  return tasks;
}

/// Photos and model.
double undistorting_seconds(const SceneRun& run, const std::vector<int>& views) {
  double photos = 0, observations = 0;
  for (const int view : views) {
    const Camera& camera = run.plan.photo_camera(view);
    const double pixel = run.plan.view(view).unchanged ? kPhotoPixel : kWarpedPixel;
    photos += kViewFile + pixel * camera.width * camera.height;
  }
  for (const View& view : run.plan.scene.views) observations += static_cast<double>(view.observations.size());
  return kViewFile + (photos + kObservation * observations) / run.threads;
}

/// A step that depends on the scene.
struct SceneStep {
  std::string name;         ///< in the report
  double seconds = 0;       ///< before the proportion of earlier runs
  std::string key = name;   ///< of its runs in the model
  bool calibrated = false;  ///< whether the model knows its stages
};

constexpr const char* kMaps = "depth maps";

/// The depth maps: matching and `host`, beside each other where a GPU matches. The proportion that runs have
/// to a calibration is not the one that they have to shipped figures.
SceneStep maps_step(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                    const PerformanceModel& model, double host) {
  SceneStep step{kMaps};
  double matching = 0;
  for (const int view : work.estimate) {
    const std::vector<StageTask> tasks = view_tasks(run, view);
    for (const StageTask& task : tasks) matching += predicted_seconds(model, task, stage_threads(run));
    if (view != work.estimate.front() || tasks.empty()) continue;
    step.calibrated = std::ranges::all_of(tasks, [&](const StageTask& task) { return model.knows(task); });
    step.key += ": " + tasks.front().stage + (step.calibrated ? ", calibrated" : "");
  }
  const bool gpu = stage_threads(run) == 0;
  step.seconds = gpu ? std::max(matching / static_cast<double>(backends.size()), host) : matching + host;
  return step;
}

std::vector<SceneStep> scene_steps(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                                   const PerformanceModel& model) {
  // Work of the host on the pixels of each view times the number of images that it meets, and on its files.
  const auto host_seconds = [&](const std::vector<int>& views, double pixel, double file,
                                const auto& images) {
    double pixels = 0;
    for (const int view : views) {
      const auto& camera = run.plan.view(view).camera;
      pixels += static_cast<double>(camera.width) * camera.height * static_cast<double>(images(view));
    }
    return (pixel * pixels + file * static_cast<double>(views.size())) / run.threads;
  };
  const double host = host_seconds(work.estimate, kMapPixel, kViewFile, [&](int view) {
    const ViewPlan& plan = run.plan.view(view);
    return 1 + (run.job.method == Method::kPlaneSweep ? plan.sources.size() : 4 * plan.pairs.size());
  });
  const SceneStep maps = maps_step(run, work, backends, model, host);
  std::vector<SceneStep> steps = {{"undistorting", undistorting_seconds(run, work.prepare)}, maps};
  if (run.options.stage == Stage::kEstimate) return steps;
  double check = host_seconds(work.check, kCheckedPixel, kViewFile, [&](int view) {
    // A GPU compares with all sources in less time than the host takes for one.
    return stage_threads(run) == 0 ? 1 : run.plan.view(view).sources.size();
  });
  // Beside the estimation it takes no longer than the host waits for the devices.
  if (run.memory.checks_beside > 0) check = std::max(0.0, check - (maps.seconds - host));
  steps.push_back({"check across views", check});
  const std::vector<std::vector<int>> overlaps = run.plan.overlaps();
  const double fusion = host_seconds(run.plan.views_in_scope(), kFusedPixel, 0, [&](int view) {
    // A GPU compares with all; the host encodes and writes the points.
    constexpr std::size_t kEncoded = 2;
    return stage_threads(run) == 0 ? kEncoded : overlaps[view].size();
  });
  steps.push_back({"fusion", work.fuse ? fusion : 0});
  return steps;
}

}  // namespace

RemainingWork remaining_work(SceneRun& run) {
  const bool fuse = run.options.stage != Stage::kEstimate, estimate = run.options.stage != Stage::kFuse;
  RemainingWork work;
  work.fuse = fuse;
  if (run.options.overwrite || !is_folder(run.workspace.path("status"))) {
    work.prepare = run.plan.needed_views();
    if (estimate) work.estimate = run.plan.active_views();
    if (fuse) work.check = run.plan.views_in_scope();
    return work;
  }
  check_photos(run);  // one that cannot be used is left out, as the run does
  for (const int view : run.plan.needed_views())
    if (!run.state(view).prepared) work.prepare.push_back(view);
  const std::vector<int> views = run.plan.views_in_scope();
  for (const int view : views) {
    run.state(view).estimate = find_finished(run, Step::kEstimate, view, estimate_inputs(run, view)).record;
    if (estimate && run.plan.view(view).active && !run.state(view).estimate) work.estimate.push_back(view);
  }
  if (!fuse) return work;
  for (const int view : cleaned_but_needed(run)) {
    run.state(view).estimate.reset();
    if (estimate) work.estimate.push_back(view);
  }
  for (const int view : views) {
    run.state(view).check = finished_check(run, view).record;
    if ((estimate || run.state(view).estimate) && !run.state(view).check) work.check.push_back(view);
  }
  const std::string fused = Workspace::fusion_record_file();
  if (work.check.empty())
    work.fuse = !find_finished(run.workspace, run.options.overwrite, fused, fusion_inputs(run, views)).record;
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
  if (work.estimate.empty() && !model.runs.empty()) plan.source = TimeSource::kRuns;
  plan.steps = {{"start", beginning.start}, {"reading the model", beginning.reading}};
  for (const SceneStep& step : scene_steps(run, work, backends, model)) {
    const double seconds = step.seconds * model.factor(step.key);
    if (step.name == kMaps) {
      const double meanwhile = beginning.reading + plan.steps.back().second;
      plan.steps.emplace_back("opening the device", std::max(0.0, beginning.opening - meanwhile));
      if (!work.estimate.empty()) {
        plan.a_view = seconds / static_cast<double>(work.estimate.size());
        if (step.calibrated) plan.source = TimeSource::kCalibration;
        if (model.runs.contains(step.key)) plan.source = TimeSource::kRuns;
      }
    }
    plan.steps.emplace_back(step.name, seconds);
  }
  for (const auto& step : plan.steps) plan.total += step.second;
  return plan;
}

bool learn_times(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                 const StepTimes& times, PerformanceModel& model) {
  constexpr double kMinSeconds = 0.1;
  bool learnt = false;
  for (const SceneStep& step : scene_steps(run, work, backends, model))
    for (const auto& [name, measured] : times) {
      if (name != step.name || measured < kMinSeconds || step.seconds <= 0) continue;
      model.learn(step.key, measured, step.seconds);
      learnt = true;
    }
  return learnt;
}

}  // namespace recon

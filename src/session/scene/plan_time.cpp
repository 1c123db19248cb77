#include "session/scene/plan_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/version.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"

namespace recon {

namespace {

/// Costs of the steps around matching, seconds of one thread per unit.
constexpr double kPhotoPixel = 6e-8;    ///< decoded, and written as it is
constexpr double kDecodedPixel = 3e-8;  ///< of a photo that is undistorted
constexpr double kWarpedPixel = 1e-7;   ///< of the view, undistorted and encoded: as JPEG less, as PNG more
constexpr double kObservation = 6e-7;   ///< of the model, undistorted and written
constexpr double kMapPixel = 1.1e-7;  ///< prepared and filtered: of a view and of each image matched with it
constexpr double kCheckedPixel = 2.2e-8;  ///< of a view, against each of its sources
constexpr double kNormalPixel = 3e-8;     ///< of a checked view
constexpr double kFusedPixel = 1.9e-8;    ///< of a view, against each view that overlaps with it
constexpr double kViewFile = 0.01;        ///< fsync of a view's files, per write

/// Threads as the counts of stages have them: 0 for a GPU.
int stage_threads(const SceneRun& run) {
  return run.memory.gpu ? 0 : run.threads;
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

/// The views that overlap with each, see ScenePlan::overlaps.
using Overlaps = std::vector<std::vector<int>>;

/// What the host does for a step of a view, seconds of one thread: work on its pixels times the images that
/// it meets, and on its files.
double host_seconds(const SceneRun& run, Step step, int view, const Overlaps& overlaps) {
  constexpr double kSides = 6;         // of a cube, for which a photo is decoded once
  constexpr std::size_t kEncoded = 2;  // a GPU compares with all; the host encodes and writes the points
  const bool gpu = stage_threads(run) == 0;
  const ViewPlan& plan = run.plan.view(view);
  const Camera& photo = run.plan.photo_camera(view);
  const double pixels = static_cast<double>(plan.camera.width) * plan.camera.height,
               photo_pixels = static_cast<double>(photo.width) * photo.height;
  const auto on_images = [&](double pixel, std::size_t images) {
    return pixel * pixels * static_cast<double>(images);
  };
  switch (step) {
    case Step::kPrepare:
      if (plan.unchanged) return kViewFile + kPhotoPixel * photo_pixels;
      return kViewFile + kDecodedPixel * photo_pixels / (run.plan.scene_view(view).face ? kSides : 1) +
             kWarpedPixel * pixels;
    case Step::kEstimate:
      if (run.given.any()) return kViewFile + on_images(kMapPixel, 1);
      return kViewFile +
             on_images(kMapPixel, 1 + (run.job.method == Method::kPlaneSweep ? plan.sources.size()
                                                                             : 4 * plan.pairs.size()));
    case Step::kCheck:  // a GPU compares with all sources in less time than the host takes for one, and
                        // computes normals
      return kViewFile + on_images(kCheckedPixel, gpu ? 1 : plan.sources.size()) +
             on_images(kNormalPixel, gpu ? 0 : 1);
    default:
      return on_images(kFusedPixel, gpu ? kEncoded : overlaps[view].size());
  }
}

/// Of the model, which nothing waits for where it is written beside the estimation.
double model_seconds(const SceneRun& run) {
  double observations = 0;
  for (const View& view : run.plan.scene.views) observations += static_cast<double>(view.observations.size());
  return kViewFile + kObservation * observations / run.threads;
}

/// A step that depends on the scene.
struct SceneStep {
  std::string name;         ///< in the report
  double seconds = 0;       ///< before the proportion of earlier runs
  std::string key = name;   ///< of its runs in the model
  bool calibrated = false;  ///< whether the model knows its stages
};

/// The depth maps: matching and what the host does, beside each other where a GPU matches. The proportion
/// that runs have to a calibration is not the one that they have to shipped figures.
void add_matching(const SceneRun& run, const std::vector<int>& views, const Backends& backends,
                  const PerformanceModel& model, SceneStep& step) {
  if (run.given.any()) {
    step.key += ": given";
    return;
  }
  double matching = 0;
  for (const int view : views) {
    const std::vector<StageTask> tasks = view_tasks(run, view);
    for (const StageTask& task : tasks) matching += predicted_seconds(model, task, stage_threads(run));
    if (view != views.front() || tasks.empty()) continue;
    step.calibrated = std::ranges::all_of(tasks, [&](const StageTask& task) { return model.knows(task); });
    step.key += ": " + tasks.front().stage + (step.calibrated ? ", calibrated" : "");
  }
  const bool gpu = stage_threads(run) == 0;
  step.seconds =
      gpu ? std::max(matching / static_cast<double>(backends.size()), step.seconds) : matching + step.seconds;
}

/// The sums over the tasks of each step.
std::vector<SceneStep> scene_steps(const SceneRun& run, const SceneWork& work, const Backends& backends,
                                   const PerformanceModel& model) {
  const Overlaps overlaps = run.plan.overlaps();
  std::vector<SceneStep> steps;
  double waiting = 0;  // of the host, for the devices
  for (const auto& [step, views] : work) {
    if (step > Step::kEstimate && !run.does(step)) continue;
    SceneStep it{step_name(step)};
    for (const int view : views) it.seconds += host_seconds(run, step, view, overlaps) / run.threads;
    if (step == Step::kPrepare) {
      // Photos that are copied say nothing of the time of those that are undistorted.
      if (std::ranges::any_of(views, [&](int view) { return !run.plan.view(view).unchanged; }))
        it.key += ": undistorted";
      if (!run.memory.model_beside) it.seconds += model_seconds(run);
    }
    if (step == Step::kEstimate) {
      const double host = it.seconds;
      add_matching(run, views, backends, model, it);
      waiting = it.seconds - host;
    }
    // Beside the estimation it takes no longer than the host waits for the devices.
    if (step == Step::kCheck && run.memory.checks_beside > 0)
      it.seconds = std::max(0.0, it.seconds - waiting);
    steps.push_back(std::move(it));
  }
  return steps;
}

}  // namespace

CalibrationKey calibration_key(const Backends& backends, int threads) {
  return {backends.front()->name(), threads, version()};
}

TimePlan plan_time(const SceneRun& run, const SceneWork& work, const Backends& backends,
                   const PerformanceModel& model, const BeginningTimes& beginning) {
  TimePlan plan;
  const std::size_t estimated = work.at(Step::kEstimate).size();
  if (estimated == 0 && !model.runs.empty()) plan.source = TimeSource::kRuns;
  plan.steps = {{"start", beginning.start}, {"reading the model", beginning.reading}};
  for (const SceneStep& step : scene_steps(run, work, backends, model)) {
    const double seconds = step.seconds * model.factor(step.key);
    if (step.name == step_name(Step::kEstimate)) {
      const double meanwhile = beginning.reading + plan.steps.back().second;
      plan.steps.emplace_back("opening the device", std::max(0.0, beginning.opening - meanwhile));
      if (estimated > 0) {
        plan.a_view = seconds / static_cast<double>(estimated);
        if (step.calibrated) plan.source = TimeSource::kCalibration;
        if (model.runs.contains(step.key)) plan.source = TimeSource::kRuns;
      }
    }
    plan.steps.emplace_back(step.name, seconds);
  }
  for (const auto& step : plan.steps) plan.total += step.second;
  return plan;
}

void add_smaller_images(SceneRun& run, const SceneWork& work, const Backends& backends,
                        const PerformanceModel& model, const BeginningTimes& beginning, TimePlan& time) {
  constexpr double kLongRun = 15 * 60, kShareOfTime = 0.5;
  constexpr int kSide = 2000;
  const bool large = std::ranges::any_of(run.plan.views, [](const ViewPlan& view) {
    return std::max(view.camera.width, view.camera.height) > kSide;
  });
  if (time.total < kLongRun || !large || run.given.any()) return;
  SessionOptions options = run.options;
  options.max_image_size = kSide;
  const std::vector<ViewPlan> views = run.plan.views;
  const std::vector<std::string> warnings = run.plan.warnings;
  resize_images(options, run.plan);
  const double seconds = plan_time(run, work, backends, model, beginning).total;
  run.plan.views = views;
  run.plan.warnings = warnings;
  if (seconds < kShareOfTime * time.total) time.smaller = {kSide, seconds};
}

std::string smaller_images_text(const TimePlan& time) {
  if (!time.smaller) return {};
  return fmt::format("--max-image-size {} would take about {} min", time.smaller->max_image_size,
                     std::max(1l, std::lround(time.smaller->seconds / 60)));
}

bool learn_times(const SceneRun& run, const SceneWork& work, const Backends& backends, const StepTimes& times,
                 PerformanceModel& model) {
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

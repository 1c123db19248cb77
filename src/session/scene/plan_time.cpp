#include "session/scene/plan_time.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/duration.hpp"
#include "core/version.hpp"
#include "scene/corner_matches.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/products/filled_maps.hpp"
#include "session/scene/prior_fits.hpp"

namespace recon {

namespace {

/// Costs of the steps around matching, seconds of one thread per unit.
constexpr double kPhotoPixel = 6e-8;    ///< decoded, and written as it is
constexpr double kDecodedPixel = 3e-8;  ///< of a photo that is undistorted
constexpr double kWarpedPixel = 1e-7;   ///< of the view, undistorted and encoded: as JPEG less, as PNG more
constexpr double kObservation = 6e-7;   ///< of the model, undistorted and written
constexpr double kMapPixel = 1.1e-7;  ///< prepared and filtered: of a view and of each image matched with it
constexpr double kCheckedPixel = 2.2e-8;  ///< of a view, against each of its sources
constexpr double kLookedPixel = 2.2e-8;   ///< of a view in small, against each of its sources
constexpr double kAreaPixel = 6e-7;       ///< of a view in small, divided into areas, which get planes
constexpr double kFittedPixel = 1.4e-7;   ///< of a view in small, to whose depths its prior is fitted
constexpr double kPriorByte = 3.5e-9;     ///< that reading a prior takes
constexpr double kFilledPixel = 3e-9;     ///< of a view that its prior fills, against each of its sources
constexpr double kNormalPixel = 3e-8;     ///< of a checked view
constexpr double kFusedPixel = 1.9e-8;    ///< of a view, against each view that overlaps with it
constexpr double kViewFile = 0.01;        ///< fsync of a view's files, per write

/// Threads as the counts of stages have them: 0 for a GPU.
int stage_threads(const SceneJob& job) {
  return job.memory.gpu ? 0 : job.host.threads;
}

/// The calls of stages that a view takes.
std::vector<StageTask> view_tasks(const SceneJob& job, int view) {
  if (job.settings.matching.sweeps())
    return {
        sweep_task(sweep_shape(sweep_problem(job.plan, view, job.settings.matching)), stage_threads(job))};
  PairSpec matching(pair_depth_options(job.settings.matching).matching);
  std::vector<StageTask> tasks;
  for (const ViewPair& it : job.plan.view(view).pairs) {
    matching.range = {it.pair.min_disparity, it.pair.disparities};
    tasks.push_back(pair_task(it.pair.left.width, it.pair.left.height, matching, stage_threads(job)));
  }
  return tasks;
}

/// The views that overlap with each, see ScenePlan::overlaps.
using Overlaps = std::vector<std::vector<int>>;

/// How often the prior of a view is read and fitted, on average: that of some views also to learn what the
/// values follow.
double prior_fits(const SceneJob& job, int view) {
  if (!job.input.prior.is_readable(job.plan.name(view))) return 0;
  if (job.settings.prior.kind != PriorKind::kAuto) return 1;
  const auto views = static_cast<double>(job.plan.views_in_scope().size());
  return 1 + 2 * std::min(1.0, static_cast<double>(PriorFits::kAsked) / views);
}

/// What the host does for a step of a view, seconds of one thread: work on its pixels times the images that
/// it meets, and on its files.
double host_seconds(const SceneJob& job, Step step, int view, const Overlaps& overlaps) {
  constexpr double kSides = 6;         // of a cube, for which a photo is decoded once
  constexpr std::size_t kEncoded = 2;  // a GPU compares with all; the host encodes and writes the points
  const bool gpu = stage_threads(job) == 0;
  const bool has_prior = job.input.prior.is_readable(job.plan.name(view));
  const ViewPlan& plan = job.plan.view(view);
  const Camera& photo = job.plan.photo_camera(view);
  const double pixels = static_cast<double>(plan.camera.width) * plan.camera.height,
               photo_pixels = static_cast<double>(photo.width) * photo.height;
  const auto on_images = [&](double pixel, std::size_t images) {
    return pixel * pixels * static_cast<double>(images);
  };
  switch (step) {
    case Step::kPrepare:
      if (plan.unchanged) return kViewFile + kPhotoPixel * photo_pixels;
      return kViewFile + kDecodedPixel * photo_pixels / (job.plan.scene_view(view).face ? kSides : 1) +
             kWarpedPixel * pixels;
    case Step::kEstimate:
      if (job.input.given.any()) return kViewFile + on_images(kMapPixel, 1);
      return kViewFile + on_images(kMapPixel, 1 + (job.settings.matching.sweeps() ? plan.sources.size()
                                                                                  : 4 * plan.pairs.size()));
    case Step::kPlanes: {
      const Pinhole small = averaged(plan.camera, plane_image_factor(plan.camera));
      const double of_source = kLookedPixel * static_cast<double>(gpu ? 1 : plan.sources.size()),
                   of_areas = job.settings.check.max_planes > 0 ? kAreaPixel : 0,
                   fits = prior_fits(job, view);
      return (of_source + of_areas + fits * kFittedPixel) * static_cast<double>(small.width) * small.height +
             fits * kPriorByte * static_cast<double>(job.input.prior.reading_bytes());
    }
    case Step::kCheck:  // a GPU compares with all sources in less time than the host takes for one, and
                        // computes normals
      return kViewFile +
             on_images(kCheckedPixel + (has_prior ? kFilledPixel : 0), gpu ? 1 : plan.sources.size()) +
             on_images(kNormalPixel, gpu ? 0 : 1);
    default:
      return on_images(kFusedPixel, gpu ? kEncoded : overlaps[view].size());
  }
}

/// Of the model, which nothing waits for where it is written beside the estimation.
double model_seconds(const SceneJob& job) {
  double observations = 0;
  for (const View& view : job.plan.scene.views) observations += static_cast<double>(view.observations.size());
  return kViewFile + kObservation * observations / job.host.threads;
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
void add_matching(const SceneJob& job, const std::vector<int>& views, const Backends& backends,
                  const PerformanceModel& model, SceneStep& step) {
  if (job.input.given.any()) {
    step.key += ": given";
    return;
  }
  double matching = 0;
  for (const int view : views) {
    const std::vector<StageTask> tasks = view_tasks(job, view);
    for (const StageTask& task : tasks) matching += predicted_seconds(model, task, stage_threads(job));
    if (view != views.front() || tasks.empty()) continue;
    step.calibrated = std::ranges::all_of(tasks, [&](const StageTask& task) { return model.knows(task); });
    step.key += ": " + tasks.front().stage + (step.calibrated ? ", calibrated" : "");
  }
  const bool gpu = stage_threads(job) == 0;
  step.seconds =
      gpu ? std::max(matching / static_cast<double>(backends.size()), step.seconds) : matching + step.seconds;
}

/// The sums over the tasks of each step.
std::vector<SceneStep> scene_steps(const SceneJob& job, const SceneWork& work, const Backends& backends,
                                   const PerformanceModel& model) {
  const Overlaps overlaps = job.plan.overlaps();
  std::vector<SceneStep> steps;
  double waiting = 0;  // of the host, for the devices
  for (const auto& [step, views] : work) {
    if (step > Step::kFusion || (step > Step::kEstimate && !job.targets.does(step))) continue;
    SceneStep it{step_name(step)};
    for (const int view : views) it.seconds += host_seconds(job, step, view, overlaps) / job.host.threads;
    if (step == Step::kPrepare) {
      // Photos that are copied say nothing of the time of those that are undistorted.
      if (std::ranges::any_of(views, [&](int view) { return !job.plan.view(view).unchanged; }))
        it.key += ": undistorted";
      if (!job.memory.model_beside) it.seconds += model_seconds(job);
    }
    if (step == Step::kEstimate) {
      const double host = it.seconds;
      add_matching(job, views, backends, model, it);
      waiting = it.seconds - host;
    }
    // Beside the estimation it takes no longer than the host waits for the devices.
    if (step == (job.targets.does(Step::kPlanes) ? Step::kPlanes : Step::kCheck) &&
        job.memory.checks_beside > 0)
      it.seconds = std::max(0.0, it.seconds - waiting);
    steps.push_back(std::move(it));
  }
  return steps;
}

}  // namespace

CalibrationKey calibration_key(const Backends& backends, int threads) {
  return {backends.front()->name(), threads, version()};
}

TimePlan plan_time(const SceneJob& job, const SceneWork& work, const Backends& backends,
                   const PerformanceModel& model, const BeginningTimes& beginning) {
  TimePlan plan;
  const std::size_t estimated = work.at(Step::kEstimate).size();
  if (estimated == 0 && !model.runs.empty()) plan.source = TimeSource::kRuns;
  plan.steps = {{"start", beginning.start}, {"reading the model", beginning.reading}};
  for (const SceneStep& step : scene_steps(job, work, backends, model)) {
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

int normal_photo_side(const Scene& scene) {
  int side = kNormalImageSide;
  for (const View& view : scene.views) {
    if (!view.face) continue;
    const Camera &face = scene.cameras[view.camera], &lens = view.face->lens;
    const double photo = std::max(lens.width, lens.height), own = std::max(face.width, face.height);
    side = std::max(side, static_cast<int>(std::lround(kNormalImageSide * photo / own)));
  }
  return side;
}

void add_smaller_images(SceneJob& job, const SceneWork& work, const Backends& backends,
                        const PerformanceModel& model, const BeginningTimes& beginning, TimePlan& time) {
  constexpr double kLongRun = 15 * 60, kShareOfTime = 0.5;
  const bool large = std::ranges::any_of(job.plan.views, [](const ViewPlan& view) {
    return std::max(view.camera.width, view.camera.height) > kNormalImageSide;
  });
  if (time.total < kLongRun || !large || job.input.given.any()) return;
  const std::vector<ViewPlan> views = job.plan.views;
  const std::vector<std::string> warnings = job.plan.warnings;
  const int side = normal_photo_side(job.plan.scene);
  resize_images({.longest_side = side}, job.settings.matching, job.plan);
  const double seconds = plan_time(job, work, backends, model, beginning).total;
  job.plan.views = views;
  job.plan.warnings = warnings;
  if (seconds < kShareOfTime * time.total) time.smaller = {side, seconds};
}

std::string smaller_images_text(const TimePlan& time) {
  if (!time.smaller) return {};
  return fmt::format("--max-image-size {} would take about {}", time.smaller->max_image_size,
                     duration_text(time.smaller->seconds));
}

bool learn_times(const SceneJob& job, const SceneWork& work, const Backends& backends, const StepTimes& times,
                 PerformanceModel& model) {
  constexpr double kMinSeconds = 0.1;
  bool learnt = false;
  for (const SceneStep& step : scene_steps(job, work, backends, model))
    for (const auto& [name, measured] : times) {
      if (name != step.name || measured < kMinSeconds || step.seconds <= 0) continue;
      model.learn(step.key, measured, step.seconds);
      learnt = true;
    }
  return learnt;
}

}  // namespace recon

#include "session/plan/plan_time.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "core/error.hpp"
#include "core/version.hpp"
#include "predict/stage_calibration.hpp"
#include "session/plan/plan_pairs.hpp"
#include "session/plan/step_rehearsal.hpp"
#include "session/resume/step_inputs.hpp"

namespace recon {

namespace {

using Backends = std::vector<std::unique_ptr<Backend>>;
namespace fs = std::filesystem;

/// A driver takes down what it had to set up: of the time until a GPU was found this share, seen on an H200.
constexpr double kClosingShare = 0.7;

double pixels_of(const ViewPlan& view) {
  return static_cast<double>(view.camera.width) * view.camera.height;
}

int lanes_of(const Backends& backends) {
  int lanes = 0;
  for (const auto& backend : backends) lanes += backend->lanes();
  return lanes;
}

/// Threads as the counts of stages have them: 0 for a GPU.
int stage_threads(const SceneRun& run) {
  return run.memory.device_peak > 0 ? 0 : run.threads;
}

int channels_of(const SceneRun& run) {
  return run.options.in_colour(run.job) ? 3 : 1;
}

bool sweeps(const SceneRun& run) {
  return run.job.method == Method::kPlaneSweep;
}

/// The options of a view's sweep; no images.
SweepProblem sweep_options(const SceneRun& run) {
  SweepProblem problem;
  problem.options = run.options.sweep;
  problem.optimizer = run.options.optimizer;
  problem.paths = run.options.sweep_paths;
  problem.stages = run.options.sweep_stages;
  return problem;
}

/// The problem of a view without its images.
SweepProblem sweep_of(const SceneRun& run, int view) {
  const auto posed = [&](int index) {
    PosedImage image;
    image.camera = run.plan.view(index).camera;
    image.cam_from_world = run.plan.scene_view(index).cam_from_world;
    image.channels = channels_of(run);
    return image;
  };
  SweepProblem problem = sweep_options(run);
  problem.reference = posed(view);
  for (const int source : run.plan.view(view).sources) problem.sources.push_back(posed(source));
  problem.planes = plane_set(run.plan.view(view));
  return problem;
}

/// The calls of stages that a view takes.
std::vector<StageTask> view_tasks(const SceneRun& run, int view, int lanes) {
  if (sweeps(run)) return {in_lanes(task_of(sweep_of(run, view), stage_threads(run)), lanes)};
  PairOptions matching = pair_depth_options(run.options).matching;
  std::vector<StageTask> tasks;
  for (const ViewPair& it : run.plan.view(view).pairs) {
    matching.range = {it.pair.min_disparity, it.pair.disparities};
    tasks.push_back(
        in_lanes(pair_task(it.pair.left.width, it.pair.left.height, matching, stage_threads(run)), lanes));
  }
  return tasks;
}

template <class Others>
StepSize size_of(const SceneRun& run, const std::vector<int>& views, const Others& others) {
  StepSize size;
  for (const int view : views) {
    const double pixels = pixels_of(run.plan.view(view));
    size.views += 1;
    size.pixels += pixels;
    size.against += pixels * static_cast<double>(others(view));
  }
  return size;
}

/// What matching looks at beside a view: its sources, or the pairs at their size.
StepSize maps_size(const SceneRun& run, const std::vector<int>& views) {
  if (sweeps(run)) return size_of(run, views, [&](int view) { return run.plan.view(view).sources.size(); });
  StepSize size = size_of(run, views, [](int) { return 0; });
  for (const int view : views) size.against += pair_samples(run.plan, view, channels_of(run));
  return size;
}

/// Only pixels with a depth are compared: all in a rehearsal; a mean of 0.7, from 0.39 to 0.90, of the pixels
/// of six scenes.
StepSize check_size(const SceneRun& run, const std::vector<int>& views) {
  constexpr double kKnown = 0.7;
  StepSize size = size_of(run, views, [&](int view) { return run.plan.view(view).sources.size(); });
  size.against *= kKnown;
  return size;
}

StepSize fusion_size(const SceneRun& run) {
  const std::vector<std::vector<int>> overlaps = run.plan.overlaps();
  return size_of(run, run.plan.views_in_scope(),
                 [&](int view) { return overlaps[static_cast<std::size_t>(view)].size(); });
}

PhotoKind photo_kind(const SceneRun& run, int view) {
  std::string extension = fs::path(run.plan.view(view).output_name).extension().string();
  for (char& letter : extension) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (extension != ".jpg" && extension != ".jpeg") extension = ".png";
  return {extension, !run.plan.view(view).unchanged};
}

/// The photos to prepare, by kind.
std::vector<StageTask> photo_tasks(const SceneRun& run, const std::vector<int>& views) {
  std::map<PhotoKind, std::pair<StepSize, double>> kinds;
  for (const int view : views) {
    auto& [size, bytes] = kinds[photo_kind(run, view)];
    const Camera& camera = run.plan.photo_camera(view);
    size.views += 1;
    size.pixels += static_cast<double>(camera.width) * camera.height;
    std::error_code missing;
    const std::uintmax_t file = fs::file_size(run.photos.photo_file(run.plan, view), missing);
    if (!missing) bytes += static_cast<double>(file);
  }
  std::vector<StageTask> tasks;
  // The kinds share their rounds.
  const double count = static_cast<double>(views.size());
  const int at_once = photos_at_once(run.plan, run.memory.limit, run.threads);
  const double factor = views.empty() ? 1 : in_rounds({count, 0, 0}, at_once).views / count;
  for (const auto& [kind, work] : kinds) {
    const auto& [size, bytes] = work;
    tasks.push_back(photos_task(kind, {factor * size.views, factor * size.pixels, 0}, factor * bytes));
  }
  return tasks;
}

/// The steps beside matching that are to be done.
struct StepTasks {
  std::vector<StageTask> photos;
  std::optional<StageTask> model, maps, check, fusion;

  std::vector<StageTask> all() const {
    std::vector<StageTask> tasks = photos;
    for (const auto* task : {&model, &maps, &check, &fusion})
      if (*task) tasks.push_back(**task);
    return tasks;
  }
};

StepTasks step_tasks(const SceneRun& run, const RemainingWork& work, int lanes) {
  StepTasks tasks;
  tasks.photos = photo_tasks(run, work.prepare);
  tasks.model =
      model_task(static_cast<double>(run.plan.needed_views().size()), observations_of(run.plan.scene));
  if (!work.estimate.empty()) tasks.maps = maps_task(run.job.method, maps_size(run, work.estimate), lanes);
  if (!work.check.empty()) tasks.check = check_task(check_size(run, work.check), run.memory.check_at_once);
  if (work.fuse) tasks.fusion = fusion_task(fusion_size(run), run.options.point_spacing);
  return tasks;
}

bool all_known(const std::vector<StageTask>& tasks, const PerformanceModel& model) {
  return std::all_of(tasks.begin(), tasks.end(),
                     [&](const StageTask& task) { return model.knows(task.stage, task.radius); });
}

/// Where the small scenes may be written: beside the calibrations, or where temporary files go.
fs::path rehearsal_folder() {
  const fs::path folder = calibration_folder();
  std::error_code error;
  if (!folder.empty() && (fs::create_directories(folder, error) || fs::is_directory(folder, error)))
    return folder;
  return fs::temp_directory_path(error);
}

void rehearse_for(const SceneRun& run, const RemainingWork& work, int lanes, PerformanceModel& model) {
  std::vector<PhotoKind> kinds;
  for (const int view : work.prepare) {
    const PhotoKind kind = photo_kind(run, view);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  if (kinds.empty()) kinds.push_back({".png", false});
  for (const PhotoKind& kind : kinds)
    rehearse_steps({run.options, kind, lanes, run.threads, run.memory.limit}, rehearsal_folder(), model);
}

/// Where the estimates of all that the check compares with a view stand, the record of its check.
bool check_finished(SceneRun& run, int view) {
  if (!run.state(view).estimate) return false;
  std::vector<int> sources;
  for (const int source : run.plan.view(view).sources) {
    if (!run.plan.view(source).in_scope) continue;
    if (!run.state(source).estimate) return false;
    sources.push_back(source);
  }
  const nlohmann::json inputs = check_inputs(run, view, sources);
  run.state(view).check =
      find_finished(run, Workspace::record_file(Step::kCheck, run.plan.view(view).output_name), inputs)
          .record;
  return run.state(view).check.has_value();
}

bool has_results(const SceneRun& run) {
  std::error_code error;
  return !run.options.overwrite && fs::is_directory(run.workspace.path("status"), error);
}

double seconds_of(const std::vector<StageTask>& tasks, const PerformanceModel& model) {
  double sum = 0;
  for (const StageTask& task : tasks) sum += model.seconds(task);
  return sum;
}

/// The depth maps: matching and what the host does beside it.
double maps_seconds(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                    const PerformanceModel& model, const StageTask& host_task) {
  const int lanes = backends.front()->lanes();
  double matching = 0, first = 0;
  for (const int view : work.estimate) {
    const std::vector<StageTask> tasks = view_tasks(run, view, lanes);
    matching += seconds_of(tasks, model);
    for (const StageTask& task : tasks) first = std::max(first, model.seconds(first_call_of(task)));
  }
  const double host = model.seconds(host_task);
  // On a CPU both have the same processors.
  if (stage_threads(run) > 0) return matching + host;
  // Views in the lanes at the begin and the end have nothing beside them.
  const double views = static_cast<double>(work.estimate.size()), all_lanes = lanes_of(backends);
  matching /= static_cast<double>(backends.size());
  return first * lanes + std::max(matching, host) +
         std::min(matching, host) * std::min(1.0, all_lanes / views);
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
    const nlohmann::json inputs = estimate_inputs(run, view);
    const std::string record = Workspace::record_file(Step::kEstimate, run.plan.view(view).output_name);
    run.state(view).estimate = find_finished(run, record, inputs).record;
    if (estimate && run.plan.view(view).active && !run.state(view).estimate) work.estimate.push_back(view);
  }
  if (!fuse_too) return work;
  const std::vector<int> views = run.plan.views_in_scope();
  for (const int view : views)
    if ((estimate || run.state(view).estimate) && !check_finished(run, view)) work.check.push_back(view);
  if (!work.check.empty()) return work;
  const nlohmann::json inputs = fusion_inputs(run, views);
  work.fuse = !find_finished(run, Workspace::fusion_record_file(), inputs).record;
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

bool calibrate_for(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                   PerformanceModel& model) {
  Backend& backend = *backends.front();
  const int lanes = backend.lanes(), threads = stage_threads(run);
  bool measured = false, undisturbed = true;
  const auto begin = [&](const char* what) {
    spdlog::info("calibrating {} on {}, once on this machine", what, backend.name());
    measured = true;
  };
  for (const int view : work.estimate) {
    const std::vector<StageTask> tasks = view_tasks(run, view, lanes);
    if (all_known(tasks, model)) continue;
    begin("the matching");
    Stopwatch watch;
    watch.lanes = lanes;
    undisturbed =
        calibrate(watch,
                  sweeps(run) ? sweep_calls(backend, sweep_options(run), channels_of(run), threads)
                              : pair_calls(backend, pair_depth_options(run.options).matching, threads),
                  model);
    break;  // all views have the same stages
  }
  if (!all_known(step_tasks(run, work, lanes_of(backends)).all(), model)) {
    begin("the other steps");
    try {
      rehearse_for(run, work, lanes_of(backends), model);
    } catch (const OutputError& failed) {
      spdlog::warn("the time cannot be told: {}", failed.what());
    }
  }
  if (!undisturbed) warn_of_disturbance(calibration_key(backends, run.threads));
  return measured;
}

std::optional<TimePlan> plan_time(const SceneRun& run, const RemainingWork& work, const Backends& backends,
                                  const PerformanceModel& model, const BeginningTimes& beginning) {
  const StepTasks steps = step_tasks(run, work, lanes_of(backends));
  if (!all_known(steps.all(), model)) return std::nullopt;
  for (const int view : work.estimate)
    if (!all_known(view_tasks(run, view, backends.front()->lanes()), model)) return std::nullopt;

  TimePlan plan;
  const double photos = seconds_of(steps.photos, model) + model.seconds(*steps.model);
  const double maps = steps.maps ? maps_seconds(run, work, backends, model, *steps.maps) : 0;
  plan.steps = {{"start", beginning.start},
                {"reading the model", beginning.reading},
                {"undistorting", photos},
                {"opening the device", std::max(0.0, beginning.opening - beginning.reading - photos)},
                {"depth maps", maps}};
  if (run.options.stage != Stage::kEstimate) {
    plan.steps.emplace_back("check across views", steps.check ? model.seconds(*steps.check) : 0);
    plan.steps.emplace_back("fusion", steps.fusion ? model.seconds(*steps.fusion) : 0);
  }
  if (stage_threads(run) == 0) plan.steps.emplace_back("closing the device", kClosingShare * beginning.start);
  for (const auto& step : plan.steps) plan.total += step.second;
  if (!work.estimate.empty()) plan.a_view = maps / static_cast<double>(work.estimate.size());
  return plan;
}

}  // namespace recon

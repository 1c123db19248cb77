#include "session/session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <new>
#include <ostream>
#include <system_error>

#include "core/interrupt.hpp"
#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "core/system_memory.hpp"
#include "io/atomic_file.hpp"
#include "io/colmap_model.hpp"
#include "session/byte_size.hpp"
#include "session/device.hpp"
#include "session/option_use.hpp"
#include "session/pair_run.hpp"
#include "session/plan_time.hpp"
#include "session/process_time.hpp"
#include "session/report.hpp"
#include "session/scene_run.hpp"
#include "session/step_clock.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Backends = std::vector<std::unique_ptr<Backend>>;

constexpr int kSomeViewsFailed = 7;

/// The devices, and how long it took to open them, seconds.
struct OpenDevices {
  Backends backends;
  double seconds = 0;
};

/// What all scenes share. Opening a GPU takes a while: it goes on beside the first scene's photos.
struct SharedWork {
  const SessionOptions& options;
  int threads;
  std::size_t memory_limit;
  std::shared_future<std::shared_ptr<OpenDevices>> devices;
  bool gpu;
  bool several_inputs;
  double start = 0;  ///< seconds from the start of the process until work begins

  Backends& backends() const { return devices.get()->backends; }
};

std::string names_of(const Backends& backends) {
  std::string names;
  for (const auto& backend : backends) names += (names.empty() ? "" : "; ") + backend->name();
  return names;
}

/// How messages and reports call an input: its folder, or the left image.
fs::path name_of(const Input& input) {
  if (const auto* scene = std::get_if<SceneFolder>(&input)) return scene->root;
  const auto& pair = std::get<PairFiles>(input);
  return pair.root.empty() ? pair.left : pair.root;
}

/// The folder that an input lies in; nothing for two image files.
std::optional<fs::path> folder_of(const Input& input) {
  const auto* pair = std::get_if<PairFiles>(&input);
  if (pair && pair->root.empty()) return std::nullopt;
  return name_of(input);
}

fs::path output_folder(const SharedWork& work, const Input& input) {
  const auto folder = folder_of(input);
  if (work.options.output.empty()) return folder ? *folder / "dense" : fs::path("dense");
  if (!work.several_inputs) return work.options.output;
  return work.options.output / fs::weakly_canonical(name_of(input)).filename();
}

/// The output must not be written over the input, nor two inputs' into one folder.
void check_output_folders(const SharedWork& work, const std::vector<Input>& inputs) {
  std::map<fs::path, fs::path> input_of_output;
  for (const Input& input : inputs) {
    const fs::path output = fs::weakly_canonical(output_folder(work, input));
    const auto folder = folder_of(input);
    if (folder && output == fs::weakly_canonical(*folder))
      throw UsageError("--output " + output.string() + " is the " +
                       (std::holds_alternative<SceneFolder>(input) ? "scene" : "pair's folder") +
                       " itself; its images would be overwritten");
    const auto [place, added] = input_of_output.emplace(output, name_of(input));
    if (!added)
      throw UsageError(name_of(input).string() + " and " + place->second.string() +
                       " would both be written to " + output.string() +
                       "; run them one by one with different --output");
  }
}

bool is_finite(const Pose& pose) {
  return std::all_of(std::begin(pose.rotation.m), std::end(pose.rotation.m),
                     [](double v) { return std::isfinite(v); }) &&
         std::isfinite(pose.translation.x) && std::isfinite(pose.translation.y) &&
         std::isfinite(pose.translation.z);
}

void check_poses(const Scene& scene, const SceneFolder& folder) {
  for (const View& view : scene.views)
    if (!is_finite(view.cam_from_world))
      throw InputError(folder.model.string() + ": the pose of " + view.name +
                       " is not finite; remove the view or mend it");
}

/// Views whose photo file is not there.
std::vector<LeftOut> missing_photos(const SceneRun& run) {
  std::vector<LeftOut> missing;
  for (const View& view : run.scene.views) {
    const fs::path file = run.folder.images / view.name;
    std::error_code error;
    if (!fs::is_regular_file(file, error))
      missing.push_back({view.name, file.string() + ": there is no such photo"});
  }
  for (const LeftOut& view : missing) spdlog::warn("{} is left out: {}", view.name, view.reason);
  if (!run.scene.views.empty() && missing.size() == run.scene.views.size())
    throw InputError(run.folder.images.string() + ": none of the " + std::to_string(missing.size()) +
                     " photos of the model is there, such as " + missing.front().name);
  return missing;
}

void read_scene(SceneRun& run) {
  run.scene = read_colmap_model(run.folder.model);
  check_poses(run.scene, run.folder);
  run.plan = make_plan(run.scene, missing_photos(run), run.options);
  for (const std::string& warning : run.plan.warnings) spdlog::warn("{}", warning);
}

void share_memory(SceneRun& run, const Backends& backends) {
  run.memory = plan_memory(run.plan, run.options, backends, run.memory.limit, run.threads);
  run.photos.set_budget(run.memory.photo_cache);
  run.photometric = std::make_unique<MapStore>(run.workspace, MapKind::kPhotometric, run.memory.map_cache);
  run.geometric = std::make_unique<MapStore>(run.workspace, MapKind::kGeometric, run.memory.map_cache);
}

void write_reports(const SceneRun& run, const json& report) {
  const Shard shard = run.options.shard;
  const std::string name =
      shard.count == 1 ? "report"
                       : "report-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
  write_file(run.workspace.path(name + ".json"), json_text(report));
  write_file(run.workspace.path(name + ".html"), report_html(report));
}

/// The time that the calibration of this machine, where there is one, tells for a run that is over.
std::optional<TimePlan> predicted_time(const SceneRun& run, const SharedWork& work, double reading) {
  const Backends& backends = work.backends();
  const PerformanceModel model = load_calibration(calibration_key(backends, run.threads));
  return plan_time(run, work_done(run), backends, model, {work.start, reading, work.devices.get()->seconds});
}

/// The steps of one scene; returns its report.
json work_on(SceneRun& run, const SharedWork& work) {
  StepClock clock;
  const auto end_step = [&clock](const char* step) {
    clock.end(step);
    release_kept_memory();  // the next step's arrays are of other sizes
  };
  read_scene(run);
  clock.end("reading the model");
  run.workspace.check_writable();
  run.workspace.check_free_space(output_bytes(run.plan));
  write_file(run.workspace.path("options.toml"), resolved_options(run.options, run.job));
  run.workspace.remove_leftovers();
  // A GPU takes a while to open, which goes on beside the photos; without one, it is known now what fits.
  if (work.gpu)
    run.photos.set_budget(run.memory.limit / 8);
  else
    share_memory(run, work.backends());
  prepare_views(run);
  write_dense_model(run);
  end_step("undistorting");
  const Backends& backends = work.backends();
  share_memory(run, backends);
  clock.end("opening the device");
  if (run.options.stage == Stage::kFuse)
    collect_estimates(run);
  else
    estimate_views(run, backends);
  end_step("depth maps");
  if (run.options.stage != Stage::kEstimate) {
    check_views(run);
    end_step("check across views");
    run.photometric->forget();
    fuse_views(run);
    end_step("fusion");
  }
  json report = report_json(run, names_of(backends), clock.times());
  if (const auto predicted = predicted_time(run, work, clock.times().front().second))
    report["predicted"] = time_json(*predicted);
  write_reports(run, report);
  return report;
}

std::string summary(const json& report) {
  const std::size_t views = report.at("views").size(), left_out = report.at("left_out").size();
  char text[160];
  std::snprintf(text, sizeof text, "%zu views in %.1f s", views,
                report.at("seconds").at("total").get<double>());
  std::string line = report.contains("points")
                         ? report.at("cloud").get<std::string>() + ": " +
                               std::to_string(report.at("points").get<std::uint64_t>()) + " points from " +
                               text
                         : report.at("output").get<std::string>() + ": depth maps of " + text;
  if (left_out > 0) line += ", " + std::to_string(left_out) + " left out";
  return line + "\n";
}

/// What came of one input.
struct Outcome {
  int exit_code = 0;
  json object;
  std::string text;
};

/// What a scene's run would be, and how long it would take; what the machine's calibration lacks is measured.
Outcome plan_scene(SceneRun& run, const SharedWork& work) {
  StepClock clock;
  read_scene(run);
  clock.end("reading the model");
  const Backends& backends = work.backends();
  share_memory(run, backends);
  const RemainingWork remaining = remaining_work(run);
  const CalibrationKey key = calibration_key(backends, run.threads);
  PerformanceModel model = load_calibration(key);
  if (calibrate_for(run, remaining, backends, model)) save_calibration(key, model);
  const BeginningTimes beginning{work.start, clock.times().front().second, work.devices.get()->seconds};
  const std::optional<TimePlan> time = plan_time(run, remaining, backends, model, beginning);
  return {0, plan_json(run, time), plan_text(run, time)};
}

Outcome do_scene(const SceneFolder& folder, const SharedWork& work) {
  SceneRun run(work.options, folder, Workspace(output_folder(work, folder)), work.threads);
  run.memory.limit = work.memory_limit;
  Outcome outcome;
  if (work.options.dry_run) {
    outcome = plan_scene(run, work);
  } else {
    outcome.object = work_on(run, work);
    outcome.text = summary(outcome.object);
  }
  outcome.exit_code = run.complete() ? 0 : kSomeViewsFailed;
  return outcome;
}

Outcome do_pair(const PairFiles& files, const SharedWork& work) {
  const auto backend = [&work]() -> Backend& { return *work.backends().front(); };
  const PairRun run{work.options,      files,        Workspace(output_folder(work, files)),
                    work.memory_limit, work.threads, backend};
  const PairReport report = work.options.dry_run ? plan_pair(run) : run_pair(run);
  return {0, report.object, report.text};
}

Outcome do_input(const Input& input, const SharedWork& work) {
  if (const auto* scene = std::get_if<SceneFolder>(&input)) return do_scene(*scene, work);
  return do_pair(std::get<PairFiles>(input), work);
}

/// An input whose failure must not stop the others.
Outcome try_input(const Input& input, const SharedWork& work) {
  const auto failed = [&](int code, const std::string& message) {
    spdlog::error("{}", message);
    return Outcome{code, {{"scene", name_of(input).string()}, {"error", message}}, {}};
  };
  try {
    return do_input(input, work);
  } catch (const Interrupted&) {
    throw;
  } catch (const DeviceUnavailable&) {
    throw;
  } catch (const Error& error) {
    return failed(error.exit_code(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(4, name_of(input).string() +
                         ": out of memory; lower --memory-limit, --threads, or the size of the images");
  }
}

/// The worse of two exit codes: a failed scene outweighs failed views.
int worse(int a, int b) {
  const auto rank = [](int code) { return code == 0 ? 0 : code == kSomeViewsFailed ? 1 : 2; };
  return rank(b) > rank(a) ? b : a;
}

std::vector<Job> jobs_of(const SessionOptions& options, const std::vector<Input>& inputs) {
  std::vector<Job> jobs;
  for (const Input& input : inputs) {
    const bool pair = std::holds_alternative<PairFiles>(input);
    jobs.push_back({options.method_of(pair), pair});
  }
  return jobs;
}

/// What of the work no GPU does; empty: nothing.
std::string work_of_the_cpu(const SessionOptions& options, const std::vector<Job>& jobs) {
  for (const Job job : jobs)
    if (options.cpu_only(job)) return "a chain with " + cpu_link(options.pair.matching.chain);
  return {};
}

SharedWork begin(const SessionOptions& options, const std::vector<Job>& jobs, int threads) {
  SharedWork work{options, threads, options.memory_limit.value_or(available_memory()), {}, false, false, 0};
  const DeviceChoice choice = choose_devices(options.device, work_of_the_cpu(options, jobs));
  work.gpu = !choice.gpus.empty();
  spdlog::info("working on {}", choice.reason);
  const BackendLimits limits{threads, work.memory_limit, options.gpu_memory_limit};
  work.devices = std::async(std::launch::async, [choice, limits] {
                   StepClock clock;
                   auto devices = std::make_shared<OpenDevices>();
                   devices->backends = make_backends(choice, limits);
                   clock.end("opening the device");
                   devices->seconds = clock.times().front().second;
                   return devices;
                 }).share();
  work.start = seconds_since_process_start();
  return work;
}

}  // namespace

int run_session(const SessionOptions& options, std::ostream& out) {
  if (options.inputs.empty())
    throw UsageError("no input given: name a folder with images/ and sparse/, or the two images of a pair");
  const std::vector<Input> inputs = expand_inputs(options.inputs);
  const std::vector<Job> jobs = jobs_of(options, inputs);
  options.check(jobs);
  ThreadLimit limit(options.threads);
  return limit.run([&] {
    SharedWork work = begin(options, jobs, limit.threads());
    work.several_inputs = inputs.size() > 1;
    check_output_folders(work, inputs);
    int exit_code = 0;
    json results = json::array();
    for (const Input& input : inputs) {
      const Outcome outcome = try_input(input, work);
      exit_code = worse(exit_code, outcome.exit_code);
      if (!options.json && (!options.quiet || options.dry_run)) out << outcome.text << std::flush;
      results.push_back(outcome.object);
    }
    if (options.json) out << json_text({{"scenes", results}, {"exit_code", exit_code}}) << std::flush;
    return exit_code;
  });
}

}  // namespace recon

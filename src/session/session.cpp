#include "session/session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <ostream>

#include "core/aligned_buffer.hpp"
#include "core/content_hash.hpp"
#include "core/interrupt.hpp"
#include "core/log_file.hpp"
#include "core/parallel.hpp"
#include "core/system_limits.hpp"
#include "core/version.hpp"
#include "io/output_file.hpp"
#include "session/input.hpp"
#include "session/options/device.hpp"
#include "session/pair/pair_run.hpp"
#include "session/plan/plan_time.hpp"
#include "session/plan/step_clock.hpp"
#include "session/report/report.hpp"
#include "session/report/report_page.hpp"
#include "session/report/session_report.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/fuse_views.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Backends = std::vector<std::unique_ptr<Backend>>;

constexpr int kBadInput = 3;
constexpr int kSomeFailed = 7;

/// The devices, and how long it took to open them, seconds.
struct OpenDevices {
  Backends backends;
  double seconds = 0;
};

/// State shared by all inputs. Finding and opening GPUs takes long and overlaps with the first scene's model
/// and undistortion.
struct SharedWork {
  const SessionOptions& options;
  int threads;
  std::size_t memory_limit;
  std::shared_future<DeviceChoice> choice;
  std::shared_future<std::shared_ptr<OpenDevices>> devices;
  bool several_inputs;
  double start = 0;  ///< seconds from the start of the process until work begins

  Backends& backends() const { return devices.get()->backends; }
  /// A device that is named has to be there before anything is written. @throws DeviceUnavailable
  void require_device() const {
    if (options.device != "auto") choice.get();
  }
  /// Whether there is no GPU to work on; false while GPUs are looked for, which a machine without driver does
  /// not do for long.
  bool without_gpu() const {
    constexpr std::chrono::milliseconds kWithoutDriver(20);
    return choice.wait_for(kWithoutDriver) == std::future_status::ready && choice.get().gpus.empty();
  }
};

std::string names_of(const Backends& backends) {
  std::string names;
  for (const auto& backend : backends) names += (names.empty() ? "" : "; ") + backend->name();
  return names;
}

std::string reason_of(const UnusableInput& input) {
  return input.path.string() + ": " + input.reason;
}

void share_memory(SceneRun& run, const Backends& backends) {
  run.memory = plan_memory(run.plan, run.options, backends, run.memory.limit, run.threads);
  if (run.memory.fusion_files > 0)
    run.workspace.check_free_space(output_bytes(run.plan) + run.memory.fusion_files);
  run.photos.set_budget(run.memory.photo_cache);
  const auto cache = std::make_shared<MapCache>(run.memory.map_cache);
  run.photometric = std::make_unique<MapStore>(run.workspace, MapKind::kPhotometric, cache);
  run.geometric = std::make_unique<MapStore>(run.workspace, MapKind::kGeometric, cache);
}

fs::path report_file(const SceneRun& run, const char* extension) {
  const Shard shard = run.options.shard;
  const std::string name =
      shard.count == 1 ? "report"
                       : "report-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
  return run.workspace.path(name + extension);
}

void write_reports(const SceneRun& run, const json& report) {
  write_file(report_file(run, ".json"), json_text(report));
  write_file(report_file(run, ".html"), report_html(report, view_of_cloud(run)));
}

/// The reports of an earlier run do not hold for a run that fails or is interrupted.
void remove_reports(const SceneRun& run) {
  for (const char* extension : {".json", ".html"}) remove_result(report_file(run, extension));
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
  run.workspace.check_free_space(output_bytes(run.plan));
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
    if (run.options.clean) clean_maps(run);
    end_step("fusion");
  }
  json report = report_json(run, names_of(backends), clock.times());
  report["predicted"] = time_json(predicted_time(run, work, clock.times()));
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

/// The result of one input.
struct Outcome {
  int exit_code = 0;
  json object;
  std::string text;
};

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

Outcome do_scene(const SceneFolder& folder, const SharedWork& work, LogFile& log) {
  SceneRun run(work.options, folder, Workspace(output_path(work.options, folder, work.several_inputs)),
               work.threads);
  run.memory.limit = work.memory_limit;
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

Outcome do_pair(const PairFiles& files, const SharedWork& work) {
  work.require_device();
  const auto backend = [&work]() -> Backend& { return *work.backends().front(); };
  const PairRun run{
      work.options,      files,        Workspace(output_path(work.options, files, work.several_inputs)),
      work.memory_limit, work.threads, backend};
  const PairReport report = work.options.dry_run ? plan_pair(run) : run_pair(run);
  return {0, report.object, report.text};
}

Outcome do_input(const Input& input, const SharedWork& work, LogFile& log) {
  if (const auto* unusable = std::get_if<UnusableInput>(&input)) throw InputError(reason_of(*unusable));
  if (const auto* scene = std::get_if<SceneFolder>(&input)) return do_scene(*scene, work, log);
  return do_pair(std::get<PairFiles>(input), work);
}

Outcome failed(const Input& input, int code, const std::string& message) {
  spdlog::error("{}", message);
  return {code, {{"scene", input_name(input).string()}, {"error", message}}, {}};
}

/// An input whose failure must not stop the others.
Outcome try_input(const Input& input, const SharedWork& work) {
  LogFile log;
  try {
    return do_input(input, work, log);
  } catch (const Interrupted&) {
    throw;
  } catch (const DeviceUnavailable&) {
    throw;
  } catch (const Error& error) {
    return failed(input, error.exit_code(), error.what());
  } catch (const std::exception&) {
    const Failure failure = current_failure(kSessionAdvice);
    return failed(input, failure.exit_code, input_name(input).string() + ": " + failure.message);
  }
}

/// The exit code of a session: where some of its inputs have results, a failure of others means that some
/// failed; where none has, it is that of the first.
int exit_code_of(const std::vector<Outcome>& outcomes) {
  const auto failed = [](const Outcome& outcome) { return outcome.exit_code != 0; };
  const auto has_results = [](const Outcome& outcome) {
    return outcome.exit_code == 0 || outcome.exit_code == kSomeFailed;
  };
  if (std::none_of(outcomes.begin(), outcomes.end(), failed)) return 0;
  return std::any_of(outcomes.begin(), outcomes.end(), has_results) ? kSomeFailed
                                                                    : outcomes.front().exit_code;
}

/// The exit code of all inputs; prints the object that --json asks for.
/// @param failure  what ended the session before its end
int report_outcomes(const SessionOptions& options, const std::vector<Outcome>& outcomes, std::ostream& out,
                    const std::optional<Failure>& failure = {}) {
  json results = json::array();
  for (const Outcome& outcome : outcomes) results.push_back(outcome.object);
  json object = {{"scenes", results}, {"exit_code", failure ? failure->exit_code : exit_code_of(outcomes)}};
  if (failure) object["error"] = failure->message;
  if (options.json) out << json_text(object) << std::flush;
  return object["exit_code"];
}

std::vector<Job> jobs_of(const SessionOptions& options, const std::vector<Input>& inputs) {
  std::vector<Job> jobs;
  for (const Input& input : inputs) {
    if (!is_usable(input)) continue;
    const bool pair = std::holds_alternative<PairFiles>(input);
    jobs.push_back({options.method_of(pair), pair});
  }
  return jobs;
}

SharedWork begin(const SessionOptions& options, int threads) {
  check_device(options.device);
  SharedWork work{options, threads, options.memory_limit.value_or(available_memory()), {}, {}, false, 0};
  work.choice = std::async(std::launch::async, [&options] {
                  const DeviceChoice choice = choose_devices(options.device);
                  spdlog::info("working on {}", choice.reason);
                  return choice;
                }).share();
  // A run that may have to wait measures the available memory afterwards.
  const auto launch = options.wait ? std::launch::deferred : std::launch::async;
  work.devices = std::async(launch, [choice = work.choice, threads, &options] {
                   StepClock clock;
                   const DeviceChoice& chosen = choice.get();
                   const BackendLimits limits{threads, options.memory_limit.value_or(available_memory()),
                                              options.gpu_memory_limit};
                   auto devices = std::make_shared<OpenDevices>();
                   devices->backends = make_backends(chosen, limits);
                   clock.end("opening the device");
                   devices->seconds = clock.times().front().second;
                   return devices;
                 }).share();
  work.start = seconds_since_process_start();
  return work;
}

/// What is written about all inputs of a session, of which there are several.
class SessionFiles {
 public:
  SessionFiles(const SessionOptions& options, std::size_t inputs)
      : count_(options.dry_run || options.shard.count > 1 || inputs < 2 ? 0 : inputs),
        folder_(session_folder(options)) {}

  void add(const Outcome& outcome) {
    if (count_ == 0) return;
    lines_.push_back(session_line(outcome.object, outcome.exit_code));
    write();
    const std::size_t left = count_ - lines_.size();
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (left > 0)
      spdlog::info("{} of {} scenes, about {:.0f} s left", lines_.size(), count_,
                   seconds / static_cast<double>(lines_.size()) * static_cast<double>(left));
  }

  /// Of all inputs for people; empty where there is one input.
  std::string table() const { return lines_.empty() ? "" : session_table(lines_); }

 private:
  using Clock = std::chrono::steady_clock;

  /// The results of the scenes matter more than these files.
  void write() {
    if (folder_.empty()) return;
    try {
      write_session_files(folder_, lines_);
    } catch (const Error& error) {
      spdlog::warn("the session's files are not written: {}", error.what());
      folder_.clear();
    }
  }

  std::size_t count_;
  fs::path folder_;
  std::vector<json> lines_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

int run_session(const SessionOptions& options, std::ostream& out) {
  if (options.inputs.empty())
    throw UsageError(
        "no input given: name the folder of a scene, such as one with images/ and sparse/, or the two images "
        "of a pair");
  const std::vector<Input> inputs = expand_inputs(options.inputs);
  const std::vector<Job> jobs = jobs_of(options, inputs);
  if (jobs.empty()) {
    std::vector<Outcome> outcomes;
    for (const Input& input : inputs)
      outcomes.push_back(failed(input, kBadInput, reason_of(std::get<UnusableInput>(input))));
    return report_outcomes(options, outcomes, out);
  }
  options.check(jobs);
  ThreadLimit limit(usable_threads(options.threads));
  return limit.run([&] {
    SharedWork work = begin(options, limit.threads());
    work.several_inputs = inputs.size() > 1;
    check_output_paths(options, inputs);
    std::vector<Outcome> outcomes;
    SessionFiles files(options, inputs.size());
    try {
      for (const Input& input : inputs) {
        outcomes.push_back(try_input(input, work));
        if (!options.json && (!options.quiet || options.dry_run)) out << outcomes.back().text << std::flush;
        files.add(outcomes.back());
      }
      if (!options.json && !options.quiet) out << files.table() << std::flush;
    } catch (...) {
      // What is finished is reported too.
      const Failure failure = current_failure(kSessionAdvice);
      log_failure(failure);
      return report_outcomes(options, outcomes, out, failure);
    }
    return report_outcomes(options, outcomes, out);
  });
}

}  // namespace recon

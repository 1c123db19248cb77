#include "session/session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <map>
#include <new>
#include <ostream>
#include <system_error>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/system_memory.hpp"
#include "io/atomic_file.hpp"
#include "io/colmap_model.hpp"
#include "session/byte_size.hpp"
#include "session/device.hpp"
#include "session/option_use.hpp"
#include "session/report.hpp"
#include "session/scene_run.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Backends = std::vector<std::unique_ptr<Backend>>;

constexpr int kSomeViewsFailed = 7;

/// What all scenes share. Opening a GPU takes a while: it goes on beside the first scene's photos.
struct SharedWork {
  const SessionOptions& options;
  int threads;
  std::size_t memory_limit;
  std::shared_future<std::shared_ptr<Backends>> backends;
  bool gpu;
  bool several_scenes;
};

std::string names_of(const Backends& backends) {
  std::string names;
  for (const auto& backend : backends) names += (names.empty() ? "" : "; ") + backend->name();
  return names;
}

/// Measures how long the steps take.
class StepClock {
 public:
  void end(const std::string& step) {
    const auto now = std::chrono::steady_clock::now();
    times_.emplace_back(step, std::chrono::duration<double>(now - last_).count());
    last_ = now;
    spdlog::debug("{}: {:.2f} s", step, times_.back().second);
  }
  const StepTimes& times() const { return times_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  StepTimes times_;
};

fs::path output_folder(const SharedWork& work, const SceneFolder& folder) {
  if (work.options.output.empty()) return folder.root / "dense";
  if (!work.several_scenes) return work.options.output;
  return work.options.output / fs::weakly_canonical(folder.root).filename();
}

/// The output must not be written over the scene, nor two scenes into one folder.
void check_output_folders(const SharedWork& work, const std::vector<SceneFolder>& scenes) {
  std::map<fs::path, fs::path> scene_of_output;
  for (const SceneFolder& scene : scenes) {
    const fs::path output = fs::weakly_canonical(output_folder(work, scene));
    if (output == fs::weakly_canonical(scene.root))
      throw UsageError("--output " + output.string() +
                       " is the scene itself; its images would be overwritten");
    const auto [place, added] = scene_of_output.emplace(output, scene.root);
    if (!added)
      throw UsageError(scene.root.string() + " and " + place->second.string() + " would both be written to " +
                       output.string() + "; run them one by one with different --output");
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

/// The steps of one scene; returns its report.
json work_on(SceneRun& run, const SharedWork& work) {
  StepClock clock;
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
    share_memory(run, *work.backends.get());
  prepare_views(run);
  write_dense_model(run);
  clock.end("undistorting");
  const std::shared_ptr<Backends> backends = work.backends.get();
  share_memory(run, *backends);
  clock.end("opening the device");
  if (run.options.stage == Stage::kFuse)
    collect_estimates(run);
  else
    estimate_views(run, *backends);
  clock.end("depth maps");
  if (run.options.stage != Stage::kEstimate) {
    check_views(run);
    clock.end("check across views");
    fuse_views(run);
    clock.end("fusion");
  }
  const json report = report_json(run, names_of(*backends), clock.times());
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

/// What came of one scene.
struct SceneOutcome {
  int exit_code = 0;
  json object;
  std::string text;
};

SceneOutcome do_scene(const SceneFolder& folder, const SharedWork& work) {
  SceneRun run(work.options, folder, Workspace(output_folder(work, folder)), work.threads);
  run.memory.limit = work.memory_limit;
  SceneOutcome outcome;
  if (work.options.dry_run) {
    read_scene(run);
    share_memory(run, *work.backends.get());
    outcome.object = plan_json(run);
    outcome.text = plan_text(run);
  } else {
    outcome.object = work_on(run, work);
    outcome.text = summary(outcome.object);
  }
  outcome.exit_code = run.complete() ? 0 : kSomeViewsFailed;
  return outcome;
}

/// A scene whose failure must not stop the others.
SceneOutcome try_scene(const SceneFolder& folder, const SharedWork& work) {
  const auto failed = [&](int code, const std::string& message) {
    spdlog::error("{}", message);
    return SceneOutcome{code, {{"scene", folder.root.string()}, {"error", message}}, {}};
  };
  try {
    return do_scene(folder, work);
  } catch (const Interrupted&) {
    throw;
  } catch (const DeviceUnavailable&) {
    throw;
  } catch (const Error& error) {
    return failed(error.exit_code(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(
        4, folder.root.string() + ": out of memory; lower --memory-limit, --max-image-size or --threads");
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

SharedWork begin(const SessionOptions& options, int threads) {
  SharedWork work{options, threads, options.memory_limit.value_or(available_memory()), {}, false, false};
  const DeviceChoice choice = choose_devices(options.device);
  work.gpu = !choice.gpus.empty();
  spdlog::info("working on {}", choice.reason);
  const BackendLimits limits{threads, work.memory_limit, options.gpu_memory_limit};
  work.backends = std::async(std::launch::async, [choice, limits] {
                    return std::make_shared<Backends>(make_backends(choice, limits));
                  }).share();
  return work;
}

}  // namespace

int run_session(const SessionOptions& options, std::ostream& out) {
  if (options.inputs.empty())
    throw UsageError("no input given: name a folder with images/ and sparse/, or the two images of a pair");
  const std::vector<Input> inputs = expand_inputs(options.inputs);
  options.check(jobs_of(options, inputs));
  std::vector<SceneFolder> scenes;
  for (const Input& input : inputs) {
    if (!std::holds_alternative<SceneFolder>(input))
      throw UsageError("rectified pairs are not in this version; give a folder with images/ and sparse/");
    scenes.push_back(std::get<SceneFolder>(input));
  }
  ThreadLimit limit(options.threads);
  return limit.run([&] {
    SharedWork work = begin(options, limit.threads());
    work.several_scenes = scenes.size() > 1;
    check_output_folders(work, scenes);
    int exit_code = 0;
    json results = json::array();
    for (const SceneFolder& scene : scenes) {
      const SceneOutcome outcome = try_scene(scene, work);
      exit_code = worse(exit_code, outcome.exit_code);
      if (!options.json && (!options.quiet || options.dry_run)) out << outcome.text << std::flush;
      results.push_back(outcome.object);
    }
    if (options.json) out << json_text({{"scenes", results}, {"exit_code", exit_code}}) << std::flush;
    return exit_code;
  });
}

}  // namespace recon

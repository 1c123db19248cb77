#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/version.hpp"
#include "evaluate/statistics.hpp"
#include "methods/presets.hpp"
#include "predict/stage_calibration.hpp"
#include "tools/bench/benchmarks.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// Calibrates what is not known yet, keeps it, and measures beside the predictions at sizes, radii and
/// numbers of planes that the calibration does not have; the table also goes to standard error.
struct PredictBenchmark {
  std::vector<std::string> stages;  ///< of all_stages(); empty: all that the device has
  bool calibrate = false;           ///< measure again also what is known
  bool calibrate_only = false;
  BenchmarkDevices devices;
};

/// A stage with the radii at which it is calibrated and those at which it is predicted.
struct PredictStage {
  std::string name;
  SampledMethod method;
  std::vector<int> calibrated, predicted;
  bool on_gpu = true;

  /// The method with windows of this radius.
  SampledMethod at(int radius) const {
    SampledMethod result = method;
    AggregationOptions& by = result.spec.aggregation;
    result.spec.cost.window = 2 * radius + 1;
    result.spec.block.radius = by.constant_radius = by.adaptive_weight.radius = by.cross.reach = radius;
    by.cross.near_reach = radius / 2;
    return result;
  }
};

SampledMethod sweep(Optimizer optimizer, bool patches = false) {
  MethodSpec sweep;
  sweep.optimizer = optimizer;
  set_patches(sweep, patches);
  return {sweep};
}

SampledMethod pair(const MethodSpec& spec) {
  return {spec, true};
}

/// A pipeline of colour differences, their aggregation and the winner.
SampledMethod aggregation(Aggregation kind) {
  MethodSpec pipeline = presets::plain_pipeline();
  pipeline.cost.kind = CostKind::kColourDifference;
  pipeline.optimizer = Optimizer::kWinnerTakeAll;
  pipeline.aggregation.kind = kind;
  return pair(pipeline);
}

std::vector<PredictStage> all_stages() {
  return {{"bm", pair(presets::block_matching()), {2, 5, 10, 15}, {3, 7, 12}},
          {"sgm", pair(presets::semi_global()), {0}, {0}},
          {"bp", pair(presets::belief_propagation()), {0}, {0}},
          {"ad-census", pair(presets::ad_census()), {34}, {34}},
          {"sweep", sweep(Optimizer::kWinnerTakeAll), {1, 3, 5, 7}, {2, 4, 6}},
          {"sweep-paths", sweep(Optimizer::kSemiGlobal), {3, 5}, {3, 4}},
          {"patches", sweep(Optimizer::kSemiGlobal, true), {2}, {2}},
          {"cw", aggregation(Aggregation::kConstantWindow), {1, 8, 16}, {4, 12}, false},
          {"aw", aggregation(Aggregation::kAdaptiveWeight), {1, 4, 10, 16}, {2, 7, 13}, false},
          {"cross", aggregation(Aggregation::kCrossBased), {5, 17, 34}, {10, 25}, false}};
}

/// Predictions are compared at sizes that are these times those of the calibration.
constexpr double kPredictedScale = 0.7;

/// Predicts and measures all stages, interleaved.
void predict(const std::vector<PredictStage>& stages, Backend& backend, int threads,
             const PerformanceModel& model, ordered_json& result) {
  std::vector<std::string> names;
  std::vector<MakeCall> calls;
  for (const PredictStage& stage : stages)
    for (const int radius : stage.predicted)
      for (MakeCall& call : sample_calls(backend, stage.at(radius), threads, kPredictedScale)) {
        names.push_back(stage.name);
        calls.push_back(std::move(call));
      }
  const auto measured = measure_interleaved(calls);
  std::map<std::string, std::vector<double>> errors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!measured[i]) continue;
    const auto& [task, seconds] = *measured[i];
    const double predicted = model.seconds(task), error = std::abs(predicted / seconds - 1);
    for (const std::string& name : {names[i], std::string("all")}) errors[name].push_back(error);
    std::fprintf(
        stderr, "%-12s %9.0f px %5.0f planes  radius %2d  %9.3f ms predicted  %9.3f ms measured  %5.1f %%\n",
        names[i].c_str(), task.pixels, task.planes, task.radius, 1e3 * predicted, 1e3 * seconds, 100 * error);
    result["predictions"].push_back({{"stage", names[i]},
                                     {"pixels", task.pixels},
                                     {"planes", task.planes},
                                     {"sources", task.sources},
                                     {"radius", task.radius},
                                     {"predicted_ms", 1e3 * predicted},
                                     {"measured_ms", 1e3 * seconds},
                                     {"error", error}});
  }
  for (const auto& [name, values] : errors) result["mean_error"][name] = mean(values);
}

/// @param threads  of the CPU; 0: a GPU
ordered_json run_on(const PredictBenchmark& benchmark, Backend& backend, int threads, int host_threads) {
  const std::vector<std::string>& chosen = benchmark.stages;
  std::vector<PredictStage> stages = all_stages();
  std::erase_if(stages, [&](const PredictStage& stage) {
    return (!chosen.empty() && std::ranges::find(chosen, stage.name) == chosen.end()) ||
           (threads == 0 && !stage.on_gpu);
  });
  const CalibrationKey key{backend.name(), host_threads, version()};
  PerformanceModel model = load_calibration(key);
  const double start = steady_seconds();
  std::vector<MakeCall> missing;
  for (const PredictStage& stage : stages)
    for (const int radius : stage.calibrated) {
      std::vector<MakeCall> calls = sample_calls(backend, stage.at(radius), threads);
      if (benchmark.calibrate || !model.knows(calls.front()().task))
        std::ranges::move(calls, std::back_inserter(missing));
    }
  if (!missing.empty()) {
    calibrate(missing, model);
    save_calibration(key, model);
  }
  ordered_json result{{"calibration", calibration_path(key).string()},
                      {"calibration_seconds", steady_seconds() - start}};
  if (!benchmark.calibrate_only) predict(stages, backend, threads, model, result);
  return result;
}

ordered_json run_predict(const PredictBenchmark& benchmark) {
  ThreadLimit limit(benchmark.devices.threads);
  ordered_json result{{"version", version()}};
  limit.run([&] {
    if (benchmark.devices.on_cpu()) {
      const auto backend = make_cpu_backend({limit.threads(), {}});
      result["cpu"] = run_on(benchmark, *backend, limit.threads(), limit.threads());
    }
    if (benchmark.devices.on_gpu()) {
      const auto backend = make_cuda_backend({});
      result["cuda"] = run_on(benchmark, *backend, 0, limit.threads());
    }
  });
  return result;
}

}  // namespace

void add_predict_benchmarks(CLI::App& app, Benchmarks& benchmarks) {
  const auto add_options = [](CLI::App& command, PredictBenchmark& benchmark) {
    std::vector<std::string> names;
    for (const PredictStage& stage : all_stages()) names.push_back(stage.name);
    command.add_option("STAGE", benchmark.stages, "Only these stages")->check(CLI::IsMember(names));
    add_devices(command, benchmark.devices);
  };
  const auto [predict, predicted] = add_benchmark(
      app, benchmarks, "predict",
      "Predicted beside measured times of stages, at sizes that the calibration does not have", run_predict);
  predict.add_flag("--calibrate", predicted.calibrate, "Measure again what the calibration has");
  add_options(predict, predicted);
  const auto [calibrate, calibrated] =
      add_benchmark(app, benchmarks, "calibrate",
                    "Measures the stages on this machine, for the times of --dry-run", run_predict);
  calibrated.calibrate = calibrated.calibrate_only = true;
  add_options(calibrate, calibrated);
}

}  // namespace recon

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/version.hpp"
#include "methods/stereo/pair.hpp"
#include "predict/performance_model.hpp"
#include "predict/stage_calibration.hpp"
#include "tools/bench/benchmarks.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// What measures and where.
struct Bench {
  Backend& backend;
  int threads;  ///< of the CPU; 0: a GPU
};

/// A stage with the radii at which it is calibrated and those at which it is predicted.
struct PredictStage {
  const char* name;
  bool on_gpu;
  std::vector<int> calibrated, predicted;
  std::function<StageOptions(int radius)> options;
};

StageOptions sweep_of(SweepOptimizer optimizer, int radius) {
  SweepSpec sweep;
  sweep.options.window = 2 * radius + 1;
  sweep.optimizer = optimizer;
  return sweep;
}

StageOptions patches_of(int radius) {
  SweepSpec sweep;
  sweep.options.window = 2 * radius + 1;
  sweep.optimizer = SweepOptimizer::kSemiGlobal;
  sweep.stages.patches = true;
  return sweep;
}

StageOptions pair_of(PairMethod method, int radius = 0) {
  PairOptions options;
  options.method = method;
  if (method == PairMethod::kBlockMatching) options.block.radius = radius;
  return options;
}

StageOptions ad_census() {
  PairOptions options;
  options.method = PairMethod::kPipeline;
  options.pipeline = ad_census_pipeline();
  return options;
}

/// A pipeline of colour differences, their aggregation and the winner.
StageOptions aggregation_of(Aggregation kind, int radius) {
  PairOptions options;
  options.method = PairMethod::kPipeline;
  options.pipeline.cost = PipelineCost::kColourDifference;
  options.pipeline.optimizer = PipelineOptimizer::kWinnerTakeAll;
  AggregationOptions& by = options.pipeline.aggregation;
  by.kind = kind;
  by.constant_radius = by.adaptive_weight.radius = by.cross.reach = radius;
  by.cross.near_reach = radius / 2;
  return options;
}

std::vector<PredictStage> all_stages() {
  const auto sweep = [](SweepOptimizer it) { return [it](int radius) { return sweep_of(it, radius); }; };
  const auto pair = [](PairMethod it) { return [it](int radius) { return pair_of(it, radius); }; };
  const auto by = [](Aggregation it) { return [it](int radius) { return aggregation_of(it, radius); }; };
  return {{"bm", true, {2, 5, 10, 15}, {3, 7, 12}, pair(PairMethod::kBlockMatching)},
          {"sgm", true, {0}, {0}, pair(PairMethod::kSemiGlobal)},
          {"bp", true, {0}, {0}, pair(PairMethod::kBeliefPropagation)},
          {"ad-census", true, {34}, {34}, [](int) { return ad_census(); }},
          {"sweep", true, {1, 3, 5, 7}, {2, 4, 6}, sweep(SweepOptimizer::kWinnerTakeAll)},
          {"sweep-paths", true, {3, 5}, {3, 4}, sweep(SweepOptimizer::kSemiGlobal)},
          {"patches", true, {2}, {2}, patches_of},
          {"cw", false, {1, 8, 16}, {4, 12}, by(Aggregation::kConstantWindow)},
          {"aw", false, {1, 4, 10, 16}, {2, 7, 13}, by(Aggregation::kAdaptiveWeight)},
          {"cross", false, {5, 17, 34}, {10, 25}, by(Aggregation::kCrossBased)}};
}

/// Sizes and numbers of planes apart from those of the calibration.
std::vector<SampleSize> predicted_sizes(int threads) {
  if (threads == 0)
    return {
        {450, 375, 96, 5, 0.5}, {900, 700, 200, 6, 0.6}, {1280, 960, 320, 5, 1.0}, {1920, 1080, 160, 3, 0.5}};
  const double scale = std::sqrt(std::clamp(threads / 4.0, 1.0, 8.0));
  std::vector<SampleSize> sizes;
  for (const SampleSize& size : {SampleSize{200, 150, 48, 3, 0.5},
                                 {450, 375, 96, 5, 0.5},
                                 {380, 285, 180, 6, 1.0},
                                 {560, 420, 150, 4, 0.5}})
    sizes.push_back({static_cast<int>(size.width * scale), static_cast<int>(size.height * scale), size.planes,
                     size.sources, size.reach});
  return sizes;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Predicts and measures all stages, interleaved.
void predict(const std::vector<PredictStage>& stages, const Bench& bench, const PerformanceModel& model,
             ordered_json& result) {
  std::vector<const char*> names;
  std::vector<MakeCall> calls;
  for (const PredictStage& stage : stages)
    for (const int radius : stage.predicted)
      for (SampleSize size : predicted_sizes(bench.threads)) {
        if (stage.name == std::string("aw")) size = {size.width / 3, size.height / 3, size.planes / 4};
        names.push_back(stage.name);
        calls.push_back(stage_call(bench.backend, stage.options(radius), size, bench.threads));
      }
  const auto measured = measure_interleaved(steady_clock_seconds(), calls);
  std::map<std::string, std::vector<double>> errors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!measured[i]) continue;
    const auto& [task, seconds] = *measured[i];
    const double predicted = model.seconds(task), error = std::abs(predicted / seconds - 1);
    for (const char* name : {names[i], "all"}) errors[name].push_back(error);
    std::fprintf(
        stderr, "%-12s %9.0f px %5.0f planes  radius %2d  %9.3f ms predicted  %9.3f ms measured  %5.1f %%\n",
        names[i], task.pixels, task.planes, task.radius, 1e3 * predicted, 1e3 * seconds, 100 * error);
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

/// The calls that calibrate the stages at the radii where they were not measured.
std::vector<MakeCall> missing_calls(const std::vector<PredictStage>& stages, const Bench& bench, bool again,
                                    const PerformanceModel& model) {
  std::vector<MakeCall> calls;
  for (const PredictStage& stage : stages)
    for (const int radius : stage.calibrated) {
      const StageOptions options = stage.options(radius);
      const StageTask task = stage_call(bench.backend, options, {64, 48, 16, 1, 0.3}, bench.threads)().task;
      const auto at = [&](const MeasuredTask& it) {
        return it.task.stage == task.stage && it.task.radius == radius;
      };
      if (!again && std::any_of(model.measured().begin(), model.measured().end(), at)) continue;
      for (MakeCall& call : calibration_calls(bench.backend, options, bench.threads))
        calls.push_back(std::move(call));
    }
  return calls;
}

bool chosen(const PredictBenchmark& benchmark, const PredictStage& stage) {
  return benchmark.stages.empty() ||
         std::find(benchmark.stages.begin(), benchmark.stages.end(), stage.name) != benchmark.stages.end();
}

ordered_json run_on(const PredictBenchmark& benchmark, const Bench& bench, int host_threads) {
  const CalibrationKey key{bench.backend.name(), host_threads, version()};
  PerformanceModel model = load_calibration(key);
  ordered_json result{{"calibration", calibration_path(key).string()}};
  std::vector<PredictStage> stages;
  for (const PredictStage& stage : all_stages())
    if (chosen(benchmark, stage) && (bench.threads > 0 || stage.on_gpu)) stages.push_back(stage);
  const double start = steady_clock_seconds()();
  const std::vector<MakeCall> calls = missing_calls(stages, bench, benchmark.calibrate, model);
  if (!calls.empty()) {
    calibrate(steady_clock_seconds(), calls, model);
    save_calibration(key, model);
  }
  result["calibration_seconds"] = steady_clock_seconds()() - start;
  if (benchmark.calibrate_only) return result;
  predict(stages, bench, model, result);
  return result;
}

}  // namespace

std::vector<std::string> predict_stages() {
  std::vector<std::string> names;
  for (const PredictStage& stage : all_stages()) names.emplace_back(stage.name);
  return names;
}

ordered_json run_predict_benchmark(const PredictBenchmark& benchmark) {
  ThreadLimit limit(benchmark.devices.threads);
  ordered_json result{{"version", version()}};
  limit.run([&] {
    if (benchmark.devices.on_cpu()) {
      const auto backend = make_cpu_backend({limit.threads(), {}});
      result["cpu"] = run_on(benchmark, {*backend, limit.threads()}, limit.threads());
    }
    if (benchmark.devices.on_gpu()) {
      const auto backend = make_cuda_backend({});
      result["cuda"] = run_on(benchmark, {*backend, 0}, limit.threads());
    }
  });
  return result;
}

}  // namespace recon

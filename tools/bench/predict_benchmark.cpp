#include "tools/bench/predict_benchmark.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/version.hpp"
#include "methods/stereo/ad_census_matching.hpp"
#include "predict/calibration_file.hpp"
#include "predict/stage_calibration.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// What measures and where.
struct Bench {
  Backend& backend;
  int threads;  ///< of the CPU; 0: a GPU
};

/// A stage under a name, with the radii at which it is calibrated and those at which it is predicted.
struct PredictStage {
  const char* name;
  bool on_gpu;
  std::vector<int> calibrated, predicted;
  std::function<std::vector<MakeCall>(const Bench&, int radius)> calibration;
  std::function<MakeCall(const Bench&, int radius, const SampleSize&)> call;
};

PredictStage sweep_stage(const char* name, SweepOptimizer optimizer, std::vector<int> calibrated,
                         std::vector<int> predicted) {
  const auto like = [optimizer](int radius) {
    SweepSpec sweep;
    sweep.options.window = 2 * radius + 1;
    sweep.optimizer = optimizer;
    return sweep;
  };
  return {name,
          true,
          std::move(calibrated),
          std::move(predicted),
          [like](const Bench& bench, int radius) {
            return sweep_calls(bench.backend, like(radius), 1, bench.threads);
          },
          [like](const Bench& bench, int radius, const SampleSize& size) {
            return sweep_call(bench.backend, size, like(radius), 1, bench.threads);
          }};
}

PredictStage pair_stage(const char* name, bool on_gpu, std::vector<int> calibrated,
                        std::vector<int> predicted, const std::function<PairOptions(int radius)>& options) {
  return {name,
          on_gpu,
          std::move(calibrated),
          std::move(predicted),
          [options](const Bench& bench, int radius) {
            return pair_calls(bench.backend, options(radius), bench.threads);
          },
          [options](const Bench& bench, int radius, const SampleSize& size) {
            return pair_call(bench.backend, size, options(radius), bench.threads);
          }};
}

PredictStage aggregation_stage(const char* name, std::vector<int> calibrated, std::vector<int> predicted,
                               const std::function<AggregationOptions(int radius)>& options) {
  return {
      name,
      false,
      std::move(calibrated),
      std::move(predicted),
      [options](const Bench& bench, int radius) { return aggregation_calls(options(radius), bench.threads); },
      [options](const Bench& bench, int radius, SampleSize size) {
        const AggregationOptions aggregation = options(radius);
        if (aggregation.kind == Aggregation::kAdaptiveWeight)
          size = {size.width / 3, size.height / 3, size.planes / 4};
        return aggregation_call(size, aggregation, bench.threads);
      }};
}

std::vector<PredictStage> pair_stages() {
  return {pair_stage("bm", true, {2, 5, 10, 15}, {3, 7, 12},
                     [](int radius) {
                       PairOptions options;
                       options.method = PairMethod::kBlockMatching;
                       options.block.radius = radius;
                       return options;
                     }),
          pair_stage("sgm", true, {0}, {0}, [](int) { return PairOptions{}; }),
          pair_stage("bp", true, {0}, {0},
                     [](int) {
                       PairOptions options;
                       options.method = PairMethod::kBeliefPropagation;
                       return options;
                     }),
          pair_stage("ad-census", true, {34}, {34}, [](int) {
            PairOptions options;
            options.method = PairMethod::kPipeline;
            options.pipeline = ad_census_pipeline();
            return options;
          })};
}

std::vector<PredictStage> all_stages() {
  std::vector<PredictStage> stages = pair_stages();
  stages.push_back(sweep_stage("sweep", SweepOptimizer::kWinnerTakeAll, {1, 3, 5, 7}, {2, 4, 6}));
  stages.push_back(sweep_stage("sweep-paths", SweepOptimizer::kSemiGlobal, {3, 5}, {3, 4}));
  stages.push_back(aggregation_stage("cw", {1, 8, 16}, {4, 12}, [](int radius) {
    AggregationOptions options;
    options.kind = Aggregation::kConstantWindow;
    options.constant_radius = radius;
    return options;
  }));
  stages.push_back(aggregation_stage("aw", {1, 4, 10, 16}, {2, 7, 13}, [](int radius) {
    AggregationOptions options;
    options.kind = Aggregation::kAdaptiveWeight;
    options.adaptive_weight.radius = radius;
    return options;
  }));
  stages.push_back(aggregation_stage("cross", {5, 17, 34}, {10, 25}, [](int radius) {
    AggregationOptions options;
    options.kind = Aggregation::kCrossBased;
    options.cross.reach = radius;
    options.cross.near_reach = radius / 2;
    return options;
  }));
  return stages;
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

/// A call to be predicted, of a stage.
struct Wanted {
  const PredictStage* stage;
  int radius;
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Predicts and measures all stages, by turns.
void predict(const std::vector<PredictStage>& stages, const Bench& bench, const PerformanceModel& model,
             ordered_json& result) {
  std::vector<Wanted> wanted;
  std::vector<MakeCall> calls;
  for (const PredictStage& stage : stages)
    for (const int radius : stage.predicted)
      for (const SampleSize& size : predicted_sizes(bench.threads)) {
        wanted.push_back({&stage, radius});
        calls.push_back(stage.call(bench, radius, size));
      }
  const auto measured = measure_interleaved({}, calls);
  std::map<std::string, std::vector<double>> errors;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!measured[i]) continue;
    const auto& [task, times, disturbed] = *measured[i];
    const char* name = wanted[i].stage->name;
    const double predicted = model.seconds(task), error = std::abs(predicted / times - 1);
    errors[name].push_back(error);
    errors["all"].push_back(error);
    std::fprintf(
        stderr,
        "%-12s %9.0f px %5.0f planes  radius %2d  %9.3f ms predicted  %9.3f ms measured  %5.1f %%%s\n", name,
        task.pixels, task.planes, wanted[i].radius, 1e3 * predicted, 1e3 * times, 100 * error,
        disturbed ? "  disturbed" : "");
    result["predictions"].push_back({{"stage", name},
                                     {"pixels", task.pixels},
                                     {"planes", task.planes},
                                     {"sources", task.sources},
                                     {"radius", wanted[i].radius},
                                     {"predicted_ms", 1e3 * predicted},
                                     {"measured_ms", 1e3 * times},
                                     {"error", error},
                                     {"disturbed", disturbed}});
  }
  for (const PredictStage& stage : stages) result["mean_error"][stage.name] = mean(errors[stage.name]);
  result["mean_error"]["all"] = mean(errors["all"]);
}

/// The calls that calibrate the stages at the radii where they are not known.
std::vector<MakeCall> missing_calls(const std::vector<PredictStage>& stages, const Bench& bench, bool again,
                                    const PerformanceModel& model) {
  std::vector<MakeCall> calls;
  for (const PredictStage& stage : stages)
    for (const int radius : stage.calibrated) {
      const SampleSize least{64, 48, 16, 1, 0.3};
      const StageTask task = stage.call(bench, radius, least)().task;
      const auto at = [&](const MeasuredTask& it) {
        return it.task.stage == task.stage && it.task.radius == radius;
      };
      if (!again && std::any_of(model.measured().begin(), model.measured().end(), at)) continue;
      for (MakeCall& call : stage.calibration(bench, radius)) calls.push_back(std::move(call));
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
    if (!calibrate({}, calls, model)) warn_of_disturbance(key);
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

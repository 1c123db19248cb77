#include "tools/bench/predict_benchmark.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/version.hpp"
#include "methods/ad_census_matching.hpp"
#include "methods/link_calibration.hpp"
#include "session/calibration_file.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// What measures and where.
struct Bench {
  Backend& backend;
  int threads;  ///< of the CPU; 0: a GPU
};

/// A link under a name, with the radii at which it is calibrated and those at which it is predicted.
struct PredictLink {
  const char* name;
  bool on_gpu;
  std::vector<int> calibrated, predicted;
  std::function<void(const Bench&, int radius, PerformanceModel&)> calibrate;
  /// Calls it on a sample once the size is set up; says what it counts as.
  std::function<LinkTask(const Bench&, int radius, const SampleSize&, CallTimes&)> measure;
};

PredictLink sweep_link(const char* name, SweepOptimizer optimizer, std::vector<int> calibrated,
                       std::vector<int> predicted) {
  const auto like = [optimizer](int radius) {
    SweepProblem problem;
    problem.options.window = 2 * radius + 1;
    problem.optimizer = optimizer;
    return problem;
  };
  return {name,
          true,
          std::move(calibrated),
          std::move(predicted),
          [like](const Bench& bench, int radius, PerformanceModel& model) {
            calibrate_sweep(bench.backend, {}, like(radius), 1, bench.threads, model);
          },
          [like](const Bench& bench, int radius, const SampleSize& size, CallTimes& times) {
            const SampleSweep sample = sample_sweep(size, like(radius), 1);
            times = measure_calls({}, [&] { bench.backend.sweep(sample.problem); });
            return task_of(sample.problem, bench.threads);
          }};
}

PredictLink pair_link(const char* name, bool on_gpu, std::vector<int> calibrated, std::vector<int> predicted,
                      const std::function<PairOptions(int radius)>& options) {
  return {name,
          on_gpu,
          std::move(calibrated),
          std::move(predicted),
          [options](const Bench& bench, int radius, PerformanceModel& model) {
            calibrate_pair(bench.backend, {}, options(radius), bench.threads, model);
          },
          [options](const Bench& bench, int radius, const SampleSize& size, CallTimes& times) {
            const SamplePair sample = sample_pair(size, options(radius));
            times = measure_calls({}, [&] { bench.backend.match(sample.problem); });
            return task_of(sample.problem, bench.threads);
          }};
}

PredictLink aggregation_link(const char* name, std::vector<int> calibrated, std::vector<int> predicted,
                             const std::function<AggregationOptions(int radius)>& options) {
  return {name,
          false,
          std::move(calibrated),
          std::move(predicted),
          [options](const Bench& bench, int radius, PerformanceModel& model) {
            calibrate_aggregation({}, options(radius), bench.threads, model);
          },
          [options](const Bench&, int radius, SampleSize size, CallTimes& times) {
            const AggregationOptions aggregation = options(radius);
            if (aggregation.kind == Aggregation::kAdaptiveWeight)
              size = {size.width / 3, size.height / 3, size.planes / 4};
            SampleAggregation sample(size, aggregation);
            times = measure_calls({}, [&] { sample.run(); });
            return sample.task;
          }};
}

std::vector<PredictLink> pair_links() {
  return {pair_link("bm", true, {2, 5, 10, 15}, {3, 7, 12},
                    [](int radius) {
                      PairOptions options;
                      options.method = PairMethod::kBlockMatching;
                      options.block.radius = radius;
                      return options;
                    }),
          pair_link("sgm", true, {0}, {0}, [](int) { return PairOptions{}; }),
          pair_link("bp", true, {0}, {0},
                    [](int) {
                      PairOptions options;
                      options.method = PairMethod::kBeliefPropagation;
                      return options;
                    }),
          pair_link("ad-census", true, {34}, {34}, [](int) {
            PairOptions options;
            options.method = PairMethod::kChain;
            options.chain = ad_census_chain();
            return options;
          })};
}

std::vector<PredictLink> all_links() {
  std::vector<PredictLink> links = pair_links();
  links.push_back(sweep_link("sweep", SweepOptimizer::kWinnerTakeAll, {1, 3, 5, 7}, {2, 4, 6}));
  links.push_back(sweep_link("sweep-paths", SweepOptimizer::kSemiGlobal, {3, 5}, {3, 4}));
  links.push_back(aggregation_link("cw", {1, 8, 16}, {4, 12}, [](int radius) {
    AggregationOptions options;
    options.kind = Aggregation::kConstantWindow;
    options.constant_radius = radius;
    return options;
  }));
  links.push_back(aggregation_link("aw", {1, 4, 10, 16}, {2, 7, 13}, [](int radius) {
    AggregationOptions options;
    options.kind = Aggregation::kAdaptiveWeight;
    options.adaptive_weight.radius = radius;
    return options;
  }));
  links.push_back(aggregation_link("cross", {5, 17, 34}, {10, 25}, [](int radius) {
    AggregationOptions options;
    options.kind = Aggregation::kCrossBased;
    options.cross.reach = radius;
    options.cross.near_reach = radius / 2;
    return options;
  }));
  return links;
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

/// Predicts and measures one link.
ordered_json predict(const PredictLink& link, const Bench& bench, const PerformanceModel& model,
                     std::vector<double>& errors) {
  ordered_json rows = ordered_json::array();
  for (const int radius : link.predicted)
    for (const SampleSize& size : predicted_sizes(bench.threads)) {
      CallTimes times;
      const LinkTask task = link.measure(bench, radius, size, times);
      const double predicted = model.seconds(task), error = std::abs(predicted / times.further - 1);
      errors.push_back(error);
      std::fprintf(
          stderr,
          "%-12s %9.0f px %5.0f planes  radius %2d  %9.3f ms predicted  %9.3f ms measured  %5.1f %%\n",
          link.name, task.pixels, task.planes, radius, 1e3 * predicted, 1e3 * times.further, 100 * error);
      rows.push_back({{"link", link.name},
                      {"pixels", task.pixels},
                      {"planes", task.planes},
                      {"sources", task.sources},
                      {"radius", radius},
                      {"predicted_ms", 1e3 * predicted},
                      {"measured_ms", 1e3 * times.further},
                      {"error", error}});
    }
  return rows;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Calibrates a link at the radii where it is not known; says whether it did.
bool calibrate(const PredictLink& link, const Bench& bench, bool again, PerformanceModel& model) {
  bool done = false;
  for (const int radius : link.calibrated) {
    CallTimes unused;
    const SampleSize least{64, 48, 16, 1, 0.3};
    const LinkTask task = link.measure(bench, radius, least, unused);
    const auto at = [&](const MeasuredTask& it) {
      return it.task.link == task.link && it.task.radius == radius;
    };
    if (!again && std::any_of(model.measured().begin(), model.measured().end(), at)) continue;
    link.calibrate(bench, radius, model);
    done = true;
  }
  return done;
}

bool chosen(const PredictBenchmark& benchmark, const PredictLink& link) {
  return benchmark.links.empty() ||
         std::find(benchmark.links.begin(), benchmark.links.end(), link.name) != benchmark.links.end();
}

ordered_json run_on(const PredictBenchmark& benchmark, const Bench& bench, int host_threads) {
  const CalibrationKey key{bench.backend.name(), host_threads, version()};
  PerformanceModel model = load_calibration(key);
  ordered_json result{{"device", bench.backend.name()}, {"calibration", calibration_path(key).string()}};
  std::vector<double> all;
  for (const PredictLink& link : all_links()) {
    if (!chosen(benchmark, link) || (bench.threads == 0 && !link.on_gpu)) continue;
    const double start = steady_clock_seconds()();
    if (calibrate(link, bench, benchmark.calibrate, model)) save_calibration(key, model);
    result["calibration_seconds"][link.name] = steady_clock_seconds()() - start;
    if (benchmark.calibrate_only) continue;
    std::vector<double> errors;
    for (const auto& row : predict(link, bench, model, errors)) result["predictions"].push_back(row);
    result["mean_error"][link.name] = mean(errors);
    all.insert(all.end(), errors.begin(), errors.end());
  }
  if (!benchmark.calibrate_only) result["mean_error"]["all"] = mean(all);
  return result;
}

}  // namespace

std::vector<std::string> predict_links() {
  std::vector<std::string> names;
  for (const PredictLink& link : all_links()) names.emplace_back(link.name);
  return names;
}

ordered_json run_predict_benchmark(const PredictBenchmark& benchmark) {
  ThreadLimit limit(benchmark.threads);
  const CudaDevices gpus = find_cuda_devices();
  if (benchmark.device == "cuda" && gpus.names.empty()) throw DeviceUnavailable(gpus.why_none);
  ordered_json result{{"benchmark", "predict"}, {"version", version()}};
  limit.run([&] {
    if (benchmark.device != "cuda") {
      const auto backend = make_cpu_backend({limit.threads(), {}});
      result["cpu"] = run_on(benchmark, {*backend, limit.threads()}, limit.threads());
    }
    if (benchmark.device != "cpu" && !gpus.names.empty()) {
      const auto backend = make_cuda_backend({});
      result["cuda"] = run_on(benchmark, {*backend, 0}, limit.threads());
    }
  });
  return result;
}

}  // namespace recon

#include <filesystem>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "cuda/testing/timing.hpp"
#include "methods/stereo/pair.hpp"
#include "tools/bench/benchmark_inputs.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// The AD-Census system on pairs; on the GPU also by step, by events, from images on the device to
/// disparities on the device, and of the whole call, with the bytes that each step moves at least and its
/// share of the bandwidth. Where both devices run, `differing_pixels` counts where their maps are not equal.
struct AdCensusBenchmark : BenchmarkRuns {
  AdCensusBenchmark() : BenchmarkRuns{50, 3} {}
  std::vector<std::filesystem::path> sets;  ///< folders of pairs, each with an info.json
};

/// The least that a step moves for both views, bytes; 0 where it is not bound by bytes. Volumes of floats are
/// read or written once a pass: aggregation by two passes an iteration would be one read and one write each.
double min_bytes(const std::string& step, const PairProblem& problem) {
  const double pixels = static_cast<double>(problem.colour.left.width) * problem.colour.left.height;
  const double volume = pixels * problem.options.range.count * sizeof(float);
  const double iterations = problem.options.aggregation.cross_based.iterations;
  if (step == "images") return 2 * pixels * (3 + 2 * 1 + 8 + 3 + 1 + 3 + 4);
  if (step == "cost") return 2 * volume;
  if (step == "aggregation") return 2 * volume * 2 * iterations;
  // To the right: read, write. Each of the other directions reads costs and sums and writes these.
  if (step == "scanline") return 2 * volume * (2 + 3 * 3);
  if (step == "winner") return 2 * volume;
  return 0;
}

ordered_json time_ad_census_on_gpu(const PairProblem& problem, int repeats) {
  const cuda::StageTimes times = cuda::time_stages(problem, repeats);
  double all = 0;
  ordered_json steps;
  for (const auto& step : times.stages) {
    ordered_json it = to_json(step.time);
    const double bytes = min_bytes(step.name, problem);
    all += bytes;
    if (bytes > 0) {
      it["bytes"] = bytes;
      it["share_of_bandwidth"] = bytes / (1e-3 * step.time.median) / kH200BytesPerSecond;
    }
    steps[step.name] = std::move(it);
  }
  return {{"whole_ms", to_json(times.kernels)},
          {"call_ms", to_json(times.call)},
          {"bytes", all},
          {"bytes_floor_ms", 1e3 * all / kH200BytesPerSecond},
          {"share_of_roofline", all / kH200BytesPerSecond / (1e-3 * times.kernels.median)},
          {"device_bytes", times.device_bytes},
          {"steps_ms", std::move(steps)}};
}

ordered_json time_on_cpu(const PairProblem& problem, const AdCensusBenchmark& benchmark) {
  ThreadLimit limit(benchmark.devices.threads);
  const auto times =
      time_in_turns(benchmark.cpu_repeats, {[&] { limit.run([&] { return match_pair(problem); }); }});
  return {{"threads", limit.threads()}, {"whole_ms", to_json(times[0])}};
}

ordered_json run_ad_census(const AdCensusBenchmark& benchmark) {
  const bool on_gpu = benchmark.devices.on_gpu();
  ordered_json runs = ordered_json::array();
  for (const std::filesystem::path& folder : benchmark.sets) {
    const ColourSet set = read_benchmark_set(folder);
    const PairProblem problem = pipeline_problem(set, presets::ad_census());
    ordered_json run{{"set", set.grey.name},
                     {"width", set.left.width()},
                     {"height", set.left.height()},
                     {"disparities", set.grey.disparities}};
    if (on_gpu) run["cuda"] = time_ad_census_on_gpu(problem, benchmark.repeats);
    if (benchmark.devices.on_cpu()) run["cpu"] = time_on_cpu(problem, benchmark);
    if (on_gpu && benchmark.devices.on_cpu())
      run["differing_pixels"] =
          differing_pixels(match_pair(problem).disparity, make_cuda_backend({})->match(problem).disparity);
    runs.push_back(std::move(run));
  }
  return {{"runs", std::move(runs)}};
}

}  // namespace

void add_ad_census_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] =
      add_benchmark(app, benchmarks, "ad-census",
                    "The AD-Census system on pairs; on a GPU with the time of each step", run_ad_census);
  command.add_option("FOLDER", benchmark.sets, "Folders of pairs, each with an info.json")->required();
  benchmark.add_options(command);
}

}  // namespace recon

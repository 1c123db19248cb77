#include <string>
#include <utility>

#include "cuda/testing/timing.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/block_cases.hpp"
#include "session/options/options.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"

namespace recon {

namespace {

using nlohmann::ordered_json;

/// Semi-global matching of made pairs in device memory, as a live camera has them, with the options as they
/// are by default and without the search for small patches: from the call until the disparities are in device
/// memory, beside the time of its kernels.
struct LiveBenchmark {
  int repeats = 201, disparities = 128;
  BenchmarkDevices devices{.device = "cuda"};
};

struct LiveSize {
  int width, height;
};
constexpr LiveSize kLiveSizes[] = {{640, 480}, {1280, 720}};

ordered_json live_json(const cuda::LiveTimes& times) {
  ordered_json stages;
  double sum = 0;
  for (const auto& [name, time] : times.stages) {
    stages[name] = to_json(time);
    sum += time.median;
  }
  return {{"latency_ms", to_json(times.latency)},
          {"rotating_ms", to_json(times.rotating)},
          {"without_graph_ms", to_json(times.no_graph)},
          {"events_ms", to_json(times.events)},
          {"in_a_row_ms", to_json(times.in_a_row)},
          {"kernels_ms", to_json(times.kernels)},
          {"sum_of_stages_ms", sum},
          {"latency_to_kernels", times.latency.median / times.kernels.median},
          {"rotating_to_kernels", times.rotating.median / times.kernels.median},
          {"events_to_kernels", times.events.median / times.kernels.median},
          {"device_bytes", times.device_bytes},
          {"stages_ms", std::move(stages)}};
}

ordered_json run_live(const LiveBenchmark& benchmark) {
  ordered_json runs = ordered_json::array();
  const std::string max = std::to_string(benchmark.disparities);
  for (const LiveSize size : kLiveSizes)
    for (const char* speckle : {"", "0"}) {
      GivenOptions given{{"max-disparity", {max}}};
      if (*speckle != '\0') given["speckle"] = {speckle};
      const PairJob job = parse_options(given).pair_job();
      const DisparityRange range{0, benchmark.disparities};
      reference::BlockPair pair = reference::textured_pair(size.width, size.height, range, {});
      pair.problem.options = PairSpec(job.spec, range);
      ordered_json run = {{"width", size.width},
                          {"height", size.height},
                          {"disparities", range.count},
                          {"min_patch", job.min_patch}};
      run.update(live_json(cuda::time_live(pair.problem, job.min_patch, benchmark.repeats)));
      runs.push_back(std::move(run));
    }
  return {{"paths", 8}, {"runs", std::move(runs)}};
}

}  // namespace

void add_live_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] = add_benchmark(
      app, benchmarks, "live",
      "Semi-global matching of pairs in the memory of a GPU, until the disparities are there", run_live);
  add_count(command, "--repeat", benchmark.repeats, "Repeats");
  add_count(command, "--disparities", benchmark.disparities, "Disparities, from 0");
}

}  // namespace recon

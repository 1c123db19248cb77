#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "aggregate/adaptive_weight_step.hpp"
#include "aggregate/aggregation.hpp"
#include "core/parallel.hpp"
#include "cuda/testing/timing.hpp"
#include "match/ad_census.hpp"
#include "match/cross_arms.hpp"
#include "reference/aggregation_reference.hpp"
#include "tools/bench/benchmark_inputs.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"

namespace recon {

namespace {

using nlohmann::ordered_json;

/// Cost aggregation against the radius, after Fang et al. 2012. On the CPU: the constant window, adaptive
/// weights and one and four iterations of crosses (arms made before) on truncated colour differences of each
/// set; then the constant window of radius 10 in turns with the sequential program that sums each window
/// directly. On the GPU also with shares of the bandwidth or of the arithmetic, and on a larger volume.
struct AggregationBenchmark {
  std::vector<std::filesystem::path> sets;  ///< folders of pairs, each with an info.json
  std::vector<int> radii{1, 2, 4, 6, 8, 10, 12, 14, 16};
  int repeats = 20;        ///< of the quick aggregators
  int weight_repeats = 3;  ///< of the adaptive weights
  int direct_repeats = 3;  ///< of the sequential program
  BenchmarkDevices devices;
};

/// Multiplications, additions and their fusions per second, measured on an H200.
constexpr double kH200FloatInstructionsPerSecond = 32.1e12;

/// Patches of colour with noise; the right view sees them a few columns farther to the left.
Image<Rgb8> made_image(int width, int height, int shift) {
  Image<Rgb8> image(width, height);
  const auto mixed = [](std::uint32_t v) { return (v ^ v >> 15) * 0x2C1B3C6Du >> 8; };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto u = static_cast<std::uint32_t>(x + shift), v = static_cast<std::uint32_t>(y);
      const std::uint32_t patch = mixed(u / 37 * 7919u + v / 29 * 104729u), noise = mixed(u * 31u + v * 17u);
      const auto level = [&](int c) {
        return static_cast<std::uint8_t>((patch >> 4 * c & 0xF0u) / 2 + (noise >> 3 * c & 7u));
      };
      image(x, y) = {level(0), level(1), level(2)};
    }
  return image;
}

/// The left view in truncated colour differences, aggregated, its planes of least cost chosen.
PairProblem aggregated_by(Aggregation kind, int radius, const ColourSet& set) {
  MethodSpec options = presets::plain_pipeline();
  options.cost.kind = CostKind::kColourDifference;
  options.optimizer = Optimizer::kWinnerTakeAll;
  AggregationOptions& by = options.aggregation;
  by.kind = kind;
  by.constant_radius = radius;
  by.adaptive_weight = {radius, 7, 17.5f};
  by.cross = {radius + 1, radius / 2, 20, 6};  // arms of at most `radius` pixels
  by.cross_based = {1};
  return pipeline_problem(set, options);
}

/// Pixels of the image in all windows along a row or a column.
double window_pixels(int size, int radius) {
  double pixels = 0;
  for (int x = 0; x < size; ++x) pixels += std::min(x + radius, size - 1) - std::max(x - radius, 0) + 1;
  return pixels;
}

ordered_json share_of_ceiling(const PairProblem& problem, double milliseconds) {
  const AggregationOptions& by = problem.options.aggregation;
  const int width = problem.colour.left.width, height = problem.colour.left.height;
  const int planes = problem.options.range.count, radius = by.adaptive_weight.radius;
  if (by.kind != Aggregation::kAdaptiveWeight) {
    const double bytes = 2 * sizeof(float) * static_cast<double>(width) * height * planes;
    const double floor = 1e3 * bytes / kH200BytesPerSecond;
    return {{"bytes_once", bytes}, {"bytes_floor_ms", floor}, {"times_the_floor", milliseconds / floor}};
  }
  // A product of weights, a fused sum and a sum for each pixel of a window.
  const double instructions = 3 * window_pixels(width, radius) * window_pixels(height, radius) * planes;
  return {{"float_instructions", instructions},
          {"share_of_float_instructions",
           instructions / (1e-3 * milliseconds) / kH200FloatInstructionsPerSecond}};
}

/// The aggregation, and every step; the arms are made with the images.
ordered_json time_steps(const PairProblem& problem, int repeats) {
  ordered_json result, steps;
  double all = 0;
  for (const auto& [name, time] : cuda::time_stages(problem, repeats).stages) {
    steps[name] = time.median;
    all += time.median;
    if (name != "aggregation") continue;
    result = to_json(time);
    result.update(share_of_ceiling(problem, time.median));
  }
  result["share_of_aggregation_in_all"] = steps["aggregation"].get<double>() / all;
  result["steps_ms"] = std::move(steps);
  return result;
}

ordered_json by_radius(const AggregationBenchmark& benchmark, const ColourSet& set, bool weights) {
  ordered_json rows = ordered_json::array();
  for (const int radius : benchmark.radii) {
    const auto by = [&](Aggregation kind) { return aggregated_by(kind, radius, set); };
    ordered_json row{{"radius", radius}};
    row["constant_window_ms"] = time_steps(by(Aggregation::kConstantWindow), benchmark.repeats);
    if (weights)
      row["adaptive_weight_ms"] = time_steps(by(Aggregation::kAdaptiveWeight), benchmark.weight_repeats);
    PairProblem crosses = by(Aggregation::kCrossBased);
    for (const int iterations : {1, 4}) {
      crosses.options.aggregation.cross_based.iterations = iterations;
      row["cross_based_" + std::to_string(iterations) + "_ms"] = time_steps(crosses, benchmark.repeats);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Of the colour differences, grey levels.
constexpr float kCap = 20;

ordered_json timed(int repeats, const std::function<void()>& work) {
  return to_json(time_in_turns(repeats, {work})[0]);
}

ordered_json run_on_set(const AggregationBenchmark& benchmark, const ColourSet& set) {
  const ColourPair pair{set.left.view(), set.right.view()};
  const int width = set.left.width(), height = set.left.height(), planes = set.grey.disparities;
  Volume<float> costs(width, planes, height), means(width, planes, height);
  const auto make_costs = [&] { colour_difference_costs(pair, PairSide::kLeft, 0, kCap, costs.view()); };
  ordered_json result{{"set", set.grey.name}, {"width", width}, {"height", height}, {"planes", planes}};
  result["colour_difference_ms"] = timed(benchmark.repeats, make_costs);
  result["ad_census_ms"] =
      timed(benchmark.repeats, [&] { ad_census_costs(pair, PairSide::kLeft, 0, {}, means.view()); });
  make_costs();
  for (const int radius : benchmark.radii) {
    const CrossOptions arms{radius + 1, radius / 2, 20, 6};  // arms of at most `radius` pixels
    const Image<Cross> left = cross_arms(pair.left, arms), right = cross_arms(pair.right, arms);
    ordered_json at{{"radius", radius}};
    at["constant_window_ms"] =
        timed(benchmark.repeats, [&] { constant_window(costs.view(), radius, kCap, means.view()); });
    at["adaptive_weight_ms"] = timed(benchmark.weight_repeats, [&] {
      adaptive_weight({pair.left, pair.right}, {radius, 7, 17.5f}, costs.view(), means.view());
    });
    at["arms_of_both_views_ms"] = timed(benchmark.repeats, [&] {
      cross_arms(pair.left, arms);
      cross_arms(pair.right, arms);
    });
    for (const int iterations : {1, 4})
      at["cross_based_" + std::to_string(iterations) + "_ms"] = timed(benchmark.repeats, [&] {
        cross_based({left.view(), right.view()}, {iterations}, kCap, means.view());
      });
    result["by_radius"].push_back(at);
  }
  return result;
}

/// The constant window in turns with the direct sums of one thread.
ordered_json against_direct_sums(const AggregationBenchmark& benchmark, ThreadLimit& limit) {
  constexpr int kWidth = 450, kHeight = 375, kPlanes = 64, kRadius = 10;
  Volume<float> costs(kWidth, kPlanes, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int d = 0; d < kPlanes; ++d)
      for (int x = 0; x < kWidth; ++x)
        costs.view()(x, y, d) = static_cast<float>((x * 31 + y * 17 + d * 7) % 256);
  Volume<float> means(kWidth, kPlanes, kHeight), direct(kWidth, kPlanes, kHeight);
  const auto times =
      time_in_turns(benchmark.direct_repeats,
                    {[&] { reference::direct_window_means(costs.view(), kRadius, direct.view()); },
                     [&] { limit.run([&] { constant_window(costs.view(), kRadius, 255, means.view()); }); }});
  return {{"width", kWidth},
          {"height", kHeight},
          {"planes", kPlanes},
          {"radius", kRadius},
          {"sequential_ms", to_json(times[0])},
          {"constant_window_ms", to_json(times[1])},
          {"ratio", to_json(ratios(times[0], times[1]))}};
}

ordered_json run_on_cpu(const AggregationBenchmark& benchmark) {
  ThreadLimit limit(benchmark.devices.threads);
  ordered_json result{{"threads", limit.threads()}};
  for (const std::filesystem::path& folder : benchmark.sets) {
    const ColourSet set = read_benchmark_set(folder);
    result["sets"].push_back(limit.run([&] { return run_on_set(benchmark, set); }));
  }
  result["constant_window_against_direct_sums"] = against_direct_sums(benchmark, limit);
  return result;
}

/// Each aggregator by radius on each set and on a larger made volume, with the share of the bandwidth or of
/// the arithmetic and the time of each step.
ordered_json run_on_gpu(const AggregationBenchmark& benchmark) {
  ordered_json result;
  for (const std::filesystem::path& folder : benchmark.sets) {
    const ColourSet set = read_benchmark_set(folder);
    result["sets"].push_back({{"set", set.grey.name},
                              {"width", set.left.width()},
                              {"height", set.left.height()},
                              {"planes", set.grey.disparities},
                              {"by_radius", by_radius(benchmark, set, true)}});
  }
  constexpr int kWidth = 1280, kHeight = 960, kPlanes = 128;
  const ColourSet made{{"made", {kWidth, kHeight}, {kWidth, kHeight}, {}, {}, kPlanes},
                       made_image(kWidth, kHeight, 0),
                       made_image(kWidth, kHeight, 12),
                       {},
                       {},
                       {}};
  result["made"] = {{"width", kWidth},
                    {"height", kHeight},
                    {"planes", kPlanes},
                    {"by_radius", by_radius(benchmark, made, false)}};
  return result;
}

ordered_json run_aggregation(const AggregationBenchmark& benchmark) {
  ordered_json result = benchmark.devices.on_cpu() ? run_on_cpu(benchmark) : ordered_json::object();
  if (benchmark.devices.on_gpu()) result["cuda"] = run_on_gpu(benchmark);
  return result;
}

}  // namespace

void add_aggregation_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] = add_benchmark(
      app, benchmarks, "aggregation",
      "Cost aggregation against the radius; on the CPU beside direct sums on one thread", run_aggregation);
  command.add_option("FOLDER", benchmark.sets, "Folders of pairs, each with an info.json");
  add_number(command, "--radius", benchmark.radii, "Radii")->check(CLI::Range(1, kMaxAdaptiveRadius));
  add_count(command, "--repeat", benchmark.repeats, "Repeats");
  add_count(command, "--weight-repeat", benchmark.weight_repeats, "Repeats of adaptive weights");
  add_count(command, "--direct-repeat", benchmark.direct_repeats, "Repeats of the direct sums");
  add_devices(command, benchmark.devices);
}

}  // namespace recon

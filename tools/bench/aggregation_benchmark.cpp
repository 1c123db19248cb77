#include "tools/bench/aggregation_benchmark.hpp"

#include <functional>
#include <string>

#include "aggregate/aggregation.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/ad_census.hpp"
#include "match/cross_arms.hpp"
#include "reference/aggregation_reference.hpp"
#include "reference/colour_sets.hpp"
#include "tools/bench/aggregation_gpu_benchmark.hpp"
#include "tools/bench/json.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// Of the colour differences, grey levels.
constexpr float kCap = 20;

/// Times after one run that warms up.
ordered_json timed(int repeats, const std::function<void()>& work) {
  std::vector<double> times;
  work();
  for (int i = 0; i < repeats; ++i) times.push_back(milliseconds(work));
  return to_json(times);
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
  std::vector<double> ours, theirs, ratios;
  for (int i = -1; i < benchmark.direct_repeats; ++i) {
    const double sequential =
        milliseconds([&] { reference::direct_window_means(costs.view(), kRadius, direct.view()); });
    const double fast = limit.run(
        [&] { return milliseconds([&] { constant_window(costs.view(), kRadius, 255, means.view()); }); });
    if (i < 0) continue;  // the first round warms up
    theirs.push_back(sequential), ours.push_back(fast), ratios.push_back(sequential / fast);
  }
  return {{"width", kWidth},
          {"height", kHeight},
          {"planes", kPlanes},
          {"radius", kRadius},
          {"sequential_ms", to_json(theirs)},
          {"constant_window_ms", to_json(ours)},
          {"ratio", to_json(ratios)}};
}

ordered_json run_on_cpu(const AggregationBenchmark& benchmark) {
  ThreadLimit limit(benchmark.devices.threads);
  ordered_json result{{"threads", limit.threads()}};
  for (const std::filesystem::path& folder : benchmark.sets) {
    if (!std::filesystem::exists(folder / "info.json"))
      throw InputError(folder.string() + " has no info.json; give folders of pairs with ground truth");
    const ColourSet set = read_colour_set(folder);
    result["sets"].push_back(limit.run([&] { return run_on_set(benchmark, set); }));
  }
  result["constant_window_against_direct_sums"] = against_direct_sums(benchmark, limit);
  return result;
}

}  // namespace

ordered_json run_aggregation_benchmark(const AggregationBenchmark& benchmark) {
  ordered_json result = benchmark.devices.on_cpu() ? run_on_cpu(benchmark) : ordered_json::object();
  if (benchmark.devices.on_gpu()) result["cuda"] = run_aggregation_on_gpu(benchmark);
  return result;
}

}  // namespace recon

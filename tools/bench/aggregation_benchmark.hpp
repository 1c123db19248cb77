#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// The benchmark of cost aggregation against the radius, after Fang et al. 2012.
struct AggregationBenchmark {
  std::vector<std::filesystem::path> sets;  ///< folders of pairs, each with an info.json
  std::vector<int> radii{1, 2, 4, 6, 8, 10, 12, 14, 16};
  int repeats = 20;        ///< of the quick aggregators
  int weight_repeats = 3;  ///< of the adaptive weights
  int direct_repeats = 3;  ///< of the sequential program
  BenchmarkDevices devices;
};

/// Runs it on the CPU unless the device is "cuda": milliseconds of the constant window, of adaptive weights
/// and of one and of four iterations of crosses (arms made before) by radius, on truncated colour differences
/// of each set; then the constant window of radius 10 in turns with the sequential program that sums each
/// window directly, on 450 x 375 pixels with 64 planes. Ratios above 1 mean that we are faster. On the GPU,
/// where one is meant or found: see run_aggregation_on_gpu.
/// @throws InputError when a set's images are not there; DeviceUnavailable
nlohmann::ordered_json run_aggregation_benchmark(const AggregationBenchmark& benchmark);

}  // namespace recon

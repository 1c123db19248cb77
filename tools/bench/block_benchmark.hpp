#pragma once

#include <nlohmann/json.hpp>

#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// The benchmark of block matching on made pairs of several sizes.
struct BlockBenchmark {
  int repeats = 50;  ///< on the GPU
  int cpu_repeats = 20;
  BenchmarkDevices devices;
};

/// Runs it: on the CPU in turns with OpenCV's StereoBM at equal window and disparities, once with the checks
/// that both have off and once with the defaults of both; on the GPU for window 19, and over tiles and rows
/// per warp, with the share of the roofline. Times in milliseconds, ratios above 1 mean that we are faster.
nlohmann::ordered_json run_block_benchmark(const BlockBenchmark& benchmark);

}  // namespace recon

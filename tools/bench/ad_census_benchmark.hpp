#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// The benchmark of the AD-Census system.
struct AdCensusBenchmark {
  std::vector<std::filesystem::path> sets;  ///< folders of pairs, each with an info.json
  int repeats = 50;                         ///< on the GPU
  int cpu_repeats = 3;                      ///< on the CPU
  BenchmarkDevices devices;
};

/// Runs it: milliseconds of the whole system and of each step; on the GPU by events, from images on the
/// device to disparities on the device, and of the whole call, with the bytes that each step moves at least
/// and its share of the bandwidth. Where both run, `differing_pixels` counts where their maps are not equal.
/// @throws InputError when a set's images are not there
/// @throws DeviceUnavailable where a GPU is asked for and there is none
nlohmann::ordered_json run_ad_census_benchmark(const AdCensusBenchmark& benchmark);

}  // namespace recon

#pragma once

#include <nlohmann/json.hpp>

#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// The benchmark of semi-global matching: synthetic pairs of several sizes, 8 paths, all other options as
/// they are by default.
struct SgmBenchmark {
  int repeats = 51;      ///< on the GPU
  int cpu_repeats = 21;  ///< on the CPU, each in turns with OpenCV
  BenchmarkDevices devices;
};

/// Times in milliseconds; on the GPU from images on the device to disparities on the device, whole and by
/// stage, with the bytes that each stage moves at least and the share of the ceiling that is reached.
/// @throws DeviceUnavailable
nlohmann::ordered_json run_sgm_benchmark(const SgmBenchmark& benchmark);

}  // namespace recon

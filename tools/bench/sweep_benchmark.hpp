#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// The benchmark of the plane sweep: view 0 of a scene against its other views, grey SAD, minimum over the
/// views.
struct SweepBenchmark {
  std::filesystem::path scene;
  int planes = 256;
  int window = 7;
  double near = 0.30, far = 0.95;  ///< scene units
  int repeats = 20;                ///< on the GPU; the CPU is measured `cpu_repeats` times
  int cpu_repeats = 5;
  int baseline_planes = 2;  ///< on which Algorithm 1 is timed, then scaled to `planes`
  BenchmarkDevices devices;
};

/// Runs it: on the CPU in turns with the transcription of Algorithm 1, on the GPU with the naive kernel.
/// Times in milliseconds, ratios above 1 mean that we are faster.
/// @throws InputError when the scene has fewer than two views of one size
nlohmann::ordered_json run_sweep_benchmark(const SweepBenchmark& benchmark);

}  // namespace recon

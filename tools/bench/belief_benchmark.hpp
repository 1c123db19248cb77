#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// The benchmark of belief propagation on the five sets of the paper.
struct BeliefBenchmark {
  std::filesystem::path folder;   ///< with a folder per set
  std::vector<std::string> sets;  ///< of those, by name; empty: all
  int repeats = 50;               ///< on the GPU
  int cpu_repeats = 5;            ///< on the CPU, in turns with the transcription
  BenchmarkDevices devices;
};

/// Runs it: on the CPU in turns with the single-thread transcription of the textbook, on the GPU per storage
/// with and without transfers. Times in milliseconds,
/// ratios above 1 mean that we are faster; `bad_1` is the share of the pixels with ground truth that are
/// wrong by more than one pixel.
/// @throws InputError when a set's images are not there
nlohmann::ordered_json run_belief_benchmark(const BeliefBenchmark& benchmark);

}  // namespace recon

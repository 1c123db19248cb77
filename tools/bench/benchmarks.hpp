#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "methods/backend.hpp"

namespace recon {

/// Where a benchmark runs.
struct BenchmarkDevices {
  std::string device = "auto";  ///< cpu, cuda, or auto: the CPU, and the GPU where there is one
  int threads = 0;              ///< of the CPU; 0: all

  bool on_cpu() const { return device != "cuda"; }
  /// @throws DeviceUnavailable where a GPU is asked for and there is none
  bool on_gpu() const {
    const CudaDevices gpus = find_cuda_devices();
    if (device == "cuda" && gpus.usable.empty()) throw DeviceUnavailable(gpus.why_not);
    return device != "cpu" && !gpus.usable.empty();
  }
  std::string names() const {
    const std::string gpu = on_gpu() ? find_cuda_devices().usable.front().name : "";
    if (!on_cpu()) return gpu;
    return make_cpu_backend({threads, {}})->name() + (gpu.empty() ? "" : "; " + gpu);
  }
};

/// The benchmarks by name, which run with the options of the command line and return their results: times in
/// milliseconds where they are not named otherwise, ratios above 1 where we are faster.
using Benchmarks = std::map<std::string, std::function<nlohmann::ordered_json()>>;

/// Adds a subcommand that calls `run` with the returned options.
template <class Benchmark>
std::pair<CLI::App&, Benchmark&> add_benchmark(CLI::App& app, Benchmarks& benchmarks, const char* name,
                                               const char* help,
                                               nlohmann::ordered_json (*run)(const Benchmark&)) {
  const auto benchmark = std::make_shared<Benchmark>();
  benchmarks[name] = [benchmark, run] {
    nlohmann::ordered_json result{{"device", benchmark->devices.names()}};
    result.update(run(*benchmark));
    return result;
  };
  return {*app.add_subcommand(name, help), *benchmark};
}

template <class T>
CLI::Option* add_number(CLI::App& app, const char* name, T& value, const char* help) {
  return app.add_option(name, value, help)->capture_default_str();
}

inline void add_count(CLI::App& app, const char* name, int& value, const char* help) {
  add_number(app, name, value, help)->check(CLI::PositiveNumber);
}

/// The planes and the window of a sweep over a scene.
struct SweepPlanes {
  int planes = 256;
  int window = 7;
  double near = 0.30, far = 0.95;  ///< scene units

  void add_options(CLI::App& app) {
    add_number(app, "--planes", planes, "Planes")->check(CLI::Range(2, 32767));
    add_number(app, "--window", window, "Side of the window, odd");
    add_number(app, "--near", near, "Least depth");
    add_number(app, "--far", far, "Greatest depth");
  }
};

inline void add_threads(CLI::App& app, BenchmarkDevices& devices) {
  add_number(app, "--threads", devices.threads, "Threads of the CPU; 0: all")->check(CLI::NonNegativeNumber);
}

inline void add_devices(CLI::App& app, BenchmarkDevices& devices) {
  add_threads(app, devices);
  add_number(app, "--device", devices.device, "auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
}

/// The devices, and how often each one repeats.
struct BenchmarkRuns {
  int repeats, cpu_repeats;
  BenchmarkDevices devices = {};

  void add_options(CLI::App& app) {
    add_count(app, "--repeat", repeats, "Repeats on the GPU");
    add_count(app, "--cpu-repeat", cpu_repeats, "Repeats on the CPU");
    add_devices(app, devices);
  }
};

// What each file adds. The benchmarks throw InputError where images are not there, and DeviceUnavailable.
void add_sweep_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_sgm_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_block_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_belief_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_ad_census_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_aggregation_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_graph_cut_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_match_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_live_benchmark(CLI::App& app, Benchmarks& benchmarks);
void add_predict_benchmarks(CLI::App& app, Benchmarks& benchmarks);

}  // namespace recon

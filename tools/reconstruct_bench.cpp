#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "aggregate/adaptive_weight_step.hpp"
#include "core/error.hpp"
#include "core/program.hpp"
#include "core/version.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/commit.hpp"

namespace {

using namespace recon;

using nlohmann::ordered_json;

/// The benchmarks by name, which run with the options of the command line.
using Benchmarks = std::map<std::string, std::function<ordered_json()>>;

/// Adds a subcommand that calls `run` with the returned options.
template <class Benchmark>
std::pair<CLI::App&, Benchmark&> add(CLI::App& app, Benchmarks& benchmarks, const char* name,
                                     const char* help, ordered_json (*run)(const Benchmark&)) {
  const auto benchmark = std::make_shared<Benchmark>();
  benchmarks[name] = [benchmark, run] {
    ordered_json result{{"device", benchmark->devices.names()}};
    result.update(run(*benchmark));
    return result;
  };
  return {*app.add_subcommand(name, help), *benchmark};
}

template <class T>
CLI::Option* add_number(CLI::App& app, const char* name, T& value, const char* help) {
  return app.add_option(name, value, help)->capture_default_str();
}

void add_count(CLI::App& app, const char* name, int& value, const char* help) {
  add_number(app, name, value, help)->check(CLI::PositiveNumber);
}

/// The planes and the window of a sweep over a scene.
template <class Benchmark>
void add_planes(CLI::App& app, Benchmark& benchmark) {
  add_number(app, "--planes", benchmark.planes, "Planes")->check(CLI::Range(2, 32767));
  add_number(app, "--window", benchmark.window, "Side of the window, odd");
  add_number(app, "--near", benchmark.near, "Least depth");
  add_number(app, "--far", benchmark.far, "Greatest depth");
}

void add_threads(CLI::App& app, BenchmarkDevices& devices) {
  add_number(app, "--threads", devices.threads, "Threads of the CPU; 0: all")->check(CLI::NonNegativeNumber);
}

void add_devices(CLI::App& app, BenchmarkDevices& devices) {
  add_threads(app, devices);
  add_number(app, "--device", devices.device, "auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
}

/// The devices, and how often each one repeats.
template <class Benchmark>
void add_runs(CLI::App& app, Benchmark& benchmark) {
  add_count(app, "--repeat", benchmark.repeats, "Repeats on the GPU");
  add_count(app, "--cpu-repeat", benchmark.cpu_repeats, "Repeats on the CPU");
  add_devices(app, benchmark.devices);
}

void add_sweep(CLI::App& app, Benchmarks& benchmarks) {
  const auto [sweep, benchmark] =
      add(app, benchmarks, "sweep-1080p",
          "The plane sweep against the paper's Algorithm 1 (CPU) and its naive kernel (GPU)",
          run_sweep_benchmark);
  sweep.add_option("SCENE", benchmark.scene, "Scene with undistorted views; the first is the reference")
      ->required();
  add_planes(sweep, benchmark);
  add_number(sweep, "--baseline-planes", benchmark.baseline_planes, "Planes on which Algorithm 1 is timed")
      ->check(CLI::Range(2, 32767));
  add_runs(sweep, benchmark);
}

void add_pairs(CLI::App& app, Benchmarks& benchmarks) {
  const auto [sgm, sgm_benchmark] =
      add(app, benchmarks, "sgm", "Semi-global matching of pairs beside OpenCV, with the time of each stage",
          run_sgm_benchmark);
  add_runs(sgm, sgm_benchmark);
  const auto [bm, block_benchmark] =
      add(app, benchmarks, "bm", "Block matching of pairs beside OpenCV's StereoBM", run_block_benchmark);
  add_runs(bm, block_benchmark);
  const auto [bp, belief_benchmark] =
      add(app, benchmarks, "bp",
          "Belief propagation on the paper's sets against a single-thread transcription of the textbook",
          run_belief_benchmark);
  bp.add_option("FOLDER", belief_benchmark.folder, "Folder with a folder per set")->required();
  bp.add_option("--set", belief_benchmark.sets, "Only these sets");
  add_runs(bp, belief_benchmark);
  const auto [system, system_benchmark] =
      add(app, benchmarks, "ad-census", "The AD-Census system on pairs, with the time of each step",
          run_ad_census_benchmark);
  system.add_option("FOLDER", system_benchmark.sets, "Folders of pairs, each with an info.json")->required();
  add_runs(system, system_benchmark);
}

void add_aggregation(CLI::App& app, Benchmarks& benchmarks) {
  const auto [aggregation, benchmark] =
      add(app, benchmarks, "aggregation",
          "Cost aggregation against the radius; on the CPU beside direct sums on one thread",
          run_aggregation_benchmark);
  aggregation.add_option("FOLDER", benchmark.sets, "Folders of pairs, each with an info.json");
  add_number(aggregation, "--radius", benchmark.radii, "Radii")->check(CLI::Range(1, kMaxAdaptiveRadius));
  add_count(aggregation, "--repeat", benchmark.repeats, "Repeats");
  add_count(aggregation, "--weight-repeat", benchmark.weight_repeats, "Repeats of adaptive weights");
  add_count(aggregation, "--direct-repeat", benchmark.direct_repeats, "Repeats of the direct sums");
  add_devices(aggregation, benchmark.devices);
}

void add_graph_cut(CLI::App& app, Benchmarks& benchmarks) {
  const auto [cut, benchmark] =
      add(app, benchmarks, "graphcut", "Graph cut over the volume of a plane sweep", run_graph_cut_benchmark);
  cut.add_option("SCENE", benchmark.scene, "Scene with undistorted views")->required();
  add_number(cut, "--reference", benchmark.reference, "The view whose depth is estimated, from 0")
      ->check(CLI::NonNegativeNumber);
  add_planes(cut, benchmark);
  add_number(cut, "--smoothness", benchmark.cut.smoothness, "Lambda");
  add_number(cut, "--smoothness-cap", benchmark.cut.smoothness_cap, "K, planes");
  add_number(cut, "--best", benchmark.cut.best, "Best planes of a pixel; 0: all");
  add_number(cut, "--reach", benchmark.cut.reach, "Pixels whose planes are allowed too");
  add_number(cut, "--band-rows", benchmark.cut.band_rows, "Rows of a band; 0: the whole image");
  add_number(cut, "--passes", benchmark.cut.passes, "Passes over all planes, at most");
  add_number(cut, "--weak-texture", benchmark.weak_texture,
             "Deviation of the window's grey levels below which texture is weak");
  add_threads(cut, benchmark.devices);
  cut.add_flag("--plain", benchmark.plain, "Also all planes in one graph of the whole image");
}

void add_predictions(CLI::App& app, Benchmarks& benchmarks) {
  const auto add_options = [](CLI::App& command, PredictBenchmark& benchmark) {
    command.add_option("STAGE", benchmark.stages, "Only these stages")
        ->check(CLI::IsMember(predict_stages()));
    add_devices(command, benchmark.devices);
  };
  const auto [predict, predicted] =
      add(app, benchmarks, "predict",
          "Predicted beside measured times of stages, at sizes that the calibration does not have",
          run_predict_benchmark);
  predict.add_flag("--calibrate", predicted.calibrate, "Measure again what the calibration has");
  add_options(predict, predicted);
  const auto [calibrate, calibrated] =
      add(app, benchmarks, "calibrate", "Measures the stages on this machine, for the times of --dry-run",
          run_predict_benchmark);
  calibrated.calibrate = calibrated.calibrate_only = true;
  add_options(calibrate, calibrated);
}

int run(int argc, char** argv) {
  CLI::App app("Benchmarks; one JSON object on standard output", "reconstruct-bench");
  app.set_version_flag("--version", std::string("reconstruct-bench ") + version() + " (" RECON_COMMIT ")");
  app.require_subcommand(1);
  Benchmarks benchmarks;
  add_sweep(app, benchmarks);
  add_pairs(app, benchmarks);
  add_aggregation(app, benchmarks);
  add_graph_cut(app, benchmarks);
  add_predictions(app, benchmarks);
  refuse_empty_arguments(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : UsageError("").exit_code();
  }
  std::string line = "reconstruct-bench";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  const std::string name = app.get_subcommands().front()->get_name();
  ordered_json result{{"benchmark", name}, {"commit", RECON_COMMIT}, {"command", line}};
  result.update(benchmarks.at(name)());
  std::cout << result.dump(2) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Advice advice{"smaller problems (--planes, --radius) need less"};
  return run_program([&] { return run(argc, argv); }, advice);
}

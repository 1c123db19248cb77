#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "aggregate/adaptive_weight_step.hpp"
#include "core/error.hpp"
#include "core/program.hpp"
#include "core/version.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/commit.hpp"

namespace {

using namespace recon;

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

void add_sweep(CLI::App& app, SweepBenchmark& benchmark) {
  CLI::App* sweep = app.add_subcommand(
      "sweep-1080p", "The plane sweep against the paper's Algorithm 1 (CPU) and its naive kernel (GPU)");
  sweep->add_option("SCENE", benchmark.scene, "Scene with undistorted views; the first is the reference")
      ->required();
  add_planes(*sweep, benchmark);
  add_number(*sweep, "--repeat", benchmark.repeats, "Repeats on the GPU");
  add_number(*sweep, "--cpu-repeat", benchmark.cpu_repeats, "Repeats on the CPU");
  add_number(*sweep, "--baseline-planes", benchmark.baseline_planes, "Planes on which Algorithm 1 is timed")
      ->check(CLI::Range(2, 32767));
  add_devices(*sweep, benchmark.devices);
}

void add_belief(CLI::App& app, BeliefBenchmark& benchmark) {
  CLI::App* belief = app.add_subcommand(
      "bp", "Belief propagation on the paper's sets against a single-thread transcription of the textbook");
  belief->add_option("FOLDER", benchmark.folder, "Folder with a folder per set")->required();
  belief->add_option("--set", benchmark.sets, "Only these sets");
  add_count(*belief, "--repeat", benchmark.repeats, "Repeats on the GPU");
  add_count(*belief, "--cpu-repeat", benchmark.cpu_repeats, "Repeats on the CPU");
  add_devices(*belief, benchmark.devices);
}

void add_sgm(CLI::App& app, SgmBenchmark& benchmark) {
  CLI::App* sgm = app.add_subcommand("sgm", "Semi-global matching of pairs, with the time of each stage");
  add_count(*sgm, "--repeat", benchmark.repeats, "Repeats on the GPU");
  add_count(*sgm, "--cpu-repeat", benchmark.cpu_repeats, "Repeats on the CPU, in turns with OpenCV");
  add_devices(*sgm, benchmark.devices);
}

void add_block(CLI::App& app, BlockBenchmark& benchmark) {
  CLI::App* bm = app.add_subcommand("bm", "Block matching of pairs beside OpenCV's StereoBM");
  add_count(*bm, "--repeat", benchmark.repeats, "Repeats on the GPU");
  add_count(*bm, "--cpu-repeat", benchmark.cpu_repeats, "Repeats on the CPU");
  add_devices(*bm, benchmark.devices);
}

void add_ad_census(CLI::App& app, AdCensusBenchmark& benchmark) {
  CLI::App* system =
      app.add_subcommand("ad-census", "The AD-Census system on pairs, with the time of each step");
  system->add_option("FOLDER", benchmark.sets, "Folders of pairs, each with an info.json")->required();
  add_count(*system, "--repeat", benchmark.repeats, "Repeats on the GPU");
  add_count(*system, "--cpu-repeat", benchmark.cpu_repeats, "Repeats on the CPU");
  add_devices(*system, benchmark.devices);
}

void add_aggregation(CLI::App& app, AggregationBenchmark& benchmark) {
  CLI::App* aggregation = app.add_subcommand(
      "aggregation", "Cost aggregation against the radius; on the CPU beside direct sums on one thread");
  aggregation->add_option("FOLDER", benchmark.sets, "Folders of pairs, each with an info.json");
  add_number(*aggregation, "--radius", benchmark.radii, "Radii")->check(CLI::Range(1, kMaxAdaptiveRadius));
  add_count(*aggregation, "--repeat", benchmark.repeats, "Repeats");
  add_count(*aggregation, "--weight-repeat", benchmark.weight_repeats, "Repeats of adaptive weights");
  add_count(*aggregation, "--direct-repeat", benchmark.direct_repeats, "Repeats of the direct sums");
  add_devices(*aggregation, benchmark.devices);
}

void add_graph_cut(CLI::App& app, GraphCutBenchmark& benchmark) {
  CLI::App* cut = app.add_subcommand("graphcut", "Graph cut over the volume of a plane sweep");
  cut->add_option("SCENE", benchmark.scene, "Scene with undistorted views")->required();
  add_number(*cut, "--reference", benchmark.reference, "The view whose depth is estimated, from 0")
      ->check(CLI::NonNegativeNumber);
  add_planes(*cut, benchmark);
  add_number(*cut, "--smoothness", benchmark.cut.smoothness, "Lambda");
  add_number(*cut, "--smoothness-cap", benchmark.cut.smoothness_cap, "K, planes");
  add_number(*cut, "--best", benchmark.cut.best, "Best planes of a pixel; 0: all");
  add_number(*cut, "--reach", benchmark.cut.reach, "Pixels whose planes are allowed too");
  add_number(*cut, "--band-rows", benchmark.cut.band_rows, "Rows of a band; 0: the whole image");
  add_number(*cut, "--passes", benchmark.cut.passes, "Passes over all planes, at most");
  add_number(*cut, "--weak-texture", benchmark.weak_texture,
             "Deviation of the window's grey levels below which texture is weak");
  add_threads(*cut, benchmark.devices);
  cut->add_flag("--plain", benchmark.plain, "Also all planes in one graph of the whole image");
}

void add_prediction_options(CLI::App& command, PredictBenchmark& benchmark) {
  command.add_option("STAGE", benchmark.stages, "Only these stages")->check(CLI::IsMember(predict_stages()));
  add_devices(command, benchmark.devices);
}

void add_predict(CLI::App& app, PredictBenchmark& benchmark) {
  CLI::App* predict = app.add_subcommand(
      "predict", "Predicted beside measured times of stages, at sizes that the calibration does not have");
  predict->add_flag("--calibrate", benchmark.calibrate, "Measure again what the calibration has");
  add_prediction_options(*predict, benchmark);
}

void add_calibrate(CLI::App& app, PredictBenchmark& benchmark) {
  benchmark.calibrate = benchmark.calibrate_only = true;
  add_prediction_options(
      *app.add_subcommand("calibrate", "Measures the stages on this machine, for the times of --dry-run"),
      benchmark);
}

std::string command_line(int argc, char** argv) {
  std::string line = "reconstruct-bench";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  return line;
}

int run(int argc, char** argv) {
  CLI::App app("Benchmarks; one JSON object on standard output", "reconstruct-bench");
  app.set_version_flag("--version", std::string("reconstruct-bench ") + version() + " (" RECON_COMMIT ")");
  app.require_subcommand(1);
  SweepBenchmark sweep;
  add_sweep(app, sweep);
  SgmBenchmark sgm;
  add_sgm(app, sgm);
  BlockBenchmark block;
  add_block(app, block);
  BeliefBenchmark belief;
  add_belief(app, belief);
  AdCensusBenchmark ad_census;
  add_ad_census(app, ad_census);
  AggregationBenchmark aggregation;
  add_aggregation(app, aggregation);
  GraphCutBenchmark cut;
  add_graph_cut(app, cut);
  PredictBenchmark predict, calibrate;
  add_predict(app, predict);
  add_calibrate(app, calibrate);
  refuse_empty_arguments(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : UsageError("").exit_code();
  }
  nlohmann::ordered_json result;
  const auto run_if_chosen = [&](const char* name, const auto& benchmark, const auto& run_benchmark) {
    if (!app.got_subcommand(name)) return;
    result = {{"benchmark", name},
              {"commit", RECON_COMMIT},
              {"command", command_line(argc, argv)},
              {"device", benchmark.devices.names()}};
    result.update(run_benchmark(benchmark));
  };
  run_if_chosen("sweep-1080p", sweep, run_sweep_benchmark);
  run_if_chosen("sgm", sgm, run_sgm_benchmark);
  run_if_chosen("bm", block, run_block_benchmark);
  run_if_chosen("bp", belief, run_belief_benchmark);
  run_if_chosen("ad-census", ad_census, run_ad_census_benchmark);
  run_if_chosen("aggregation", aggregation, run_aggregation_benchmark);
  run_if_chosen("graphcut", cut, run_graph_cut_benchmark);
  run_if_chosen("predict", predict, run_predict_benchmark);
  run_if_chosen("calibrate", calibrate, run_predict_benchmark);
  std::cout << result.dump(2) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Advice advice{"smaller problems (--planes, --radius) need less"};
  return run_program([&] { return run(argc, argv); }, advice);
}

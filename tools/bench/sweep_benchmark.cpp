#include <algorithm>
#include <filesystem>

#include "cuda/testing/timing.hpp"
#include "methods/backend.hpp"
#include "reference/achten_algorithm_1.hpp"
#include "tools/bench/benchmark_inputs.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// The plane sweep of view 0 of a scene against its other views, grey SAD, minimum over the views: on the CPU
/// in turns with the transcription of Algorithm 1, on the GPU with the naive kernel.
struct SweepBenchmark : SweepPlanes, BenchmarkRuns {
  SweepBenchmark() : BenchmarkRuns{20, 5} {}
  std::filesystem::path scene;
  int baseline_planes = 2;  ///< on which Algorithm 1 is timed, then scaled to `planes`
};

/// What the H200 does at best, of its 132 multiprocessors: four instructions of a warp and 32 loads of a word
/// from the first cache in each cycle.
constexpr double kH200WarpInstructionsPerSecond = 132 * 4 * 1.98e9;
constexpr double kH200LoadsPerSecond = 132 * 32 * 1.98e9;
/// The least that a sample takes as warp_step.hpp has it: 10 for the position, 3 for the address, the load,
/// 7 for the bilinear sum, 1 for packing and difference.
constexpr double kInstructionsPerSample = 22;

SweepProblem problem_of(const SweepBenchmark& benchmark, const PosedViews& views) {
  SweepProblem problem;
  problem.reference = views.images.front();
  problem.sources.assign(views.images.begin() + 1, views.images.end());
  problem.planes = make_plane_set(benchmark.near, benchmark.far, benchmark.planes);
  problem.cost = {CostKind::kSad, benchmark.window, Combination::kMinimum, 1};
  return problem;
}

double sample_count(const SweepProblem& problem) {
  return static_cast<double>(problem.reference.camera.width) * problem.reference.camera.height *
         problem.planes.count * static_cast<double>(problem.sources.size());
}

/// Ours and Algorithm 1.
ordered_json run_on_cpu(const SweepBenchmark& benchmark, const SweepProblem& problem) {
  const auto backend = make_cpu_backend({benchmark.devices.threads, {}});
  SweepProblem few = problem;
  few.planes = make_plane_set(benchmark.near, benchmark.far, benchmark.baseline_planes);
  const double scale = static_cast<double>(benchmark.planes) / benchmark.baseline_planes;
  auto times = time_in_turns(benchmark.cpu_repeats,
                             {[&] { backend->sweep(problem); }, [&] { reference::sweep_algorithm_1(few); }});
  for (double& time : times[1]) time *= scale;
  return {{"sweep_ms", to_json(times[0])},
          {"ns_per_sample", 1e6 * spread_of(times[0]).median / sample_count(problem)},
          {"algorithm_1_ms", to_json(times[1])},
          {"algorithm_1_timed_on_planes", benchmark.baseline_planes},
          {"ratio_to_algorithm_1", to_json(ratios(times[1], times[0]))}};
}

/// The GPU with its share of the roofline: the instructions and the loads of the samples without window
/// halos, window sums and winners, and the bytes of a volume written (and read once more by the winner).
ordered_json time_on_gpu(const SweepProblem& problem, int repeats, double naive_ms) {
  const cuda::StageTimes times = cuda::time_stages(problem, repeats);
  const double samples = sample_count(problem);
  const double issue_ms = 1e3 * samples * kInstructionsPerSample / 32.0 / kH200WarpInstructionsPerSecond;
  const double load_ms = 1e3 * samples / kH200LoadsPerSecond;
  const double volume_bytes = 2.0 * 2.0 * samples / static_cast<double>(problem.sources.size());
  const double bytes_ms = 1e3 * volume_bytes / kH200BytesPerSecond;
  return {{"kernels_ms", to_json(times.kernels)},
          {"whole_call_ms", to_json(times.call)},
          {"device_bytes", times.device_bytes},
          {"source_loads", samples},
          {"load_floor_ms", load_ms},
          {"issue_floor_ms", issue_ms},
          {"volume_bytes", volume_bytes},
          {"bytes_floor_ms", bytes_ms},
          {"share_of_roofline", std::max({issue_ms, load_ms, bytes_ms}) / times.kernels.median},
          {"ratio_to_naive", naive_ms / times.kernels.median}};
}

ordered_json run_on_gpu(const SweepBenchmark& benchmark, const SweepProblem& problem) {
  const cuda::NaiveSweep naive = cuda::time_naive_sweep(problem, std::min(benchmark.repeats, 5));
  ordered_json result;
  result["naive_kernel_ms"] = to_json(naive.kernels);
  result["with_half_volume"] = time_on_gpu(problem, benchmark.repeats, naive.kernels.median);
  return result;
}

ordered_json run_sweep(const SweepBenchmark& benchmark) {
  const PosedViews views = read_posed_views(benchmark.scene);
  const SweepProblem problem = problem_of(benchmark, views);
  ordered_json result;
  result["scene"] = benchmark.scene.filename().string();
  result["width"] = problem.reference.camera.width;
  result["height"] = problem.reference.camera.height;
  result["planes"] = benchmark.planes;
  result["sources"] = problem.sources.size();
  result["window"] = benchmark.window;
  result["samples"] = sample_count(problem);
  if (benchmark.devices.on_cpu()) result["cpu"] = run_on_cpu(benchmark, problem);
  if (benchmark.devices.on_gpu()) result["cuda"] = run_on_gpu(benchmark, problem);
  return result;
}

}  // namespace

void add_sweep_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] = add_benchmark(
      app, benchmarks, "sweep-1080p",
      "The plane sweep against the paper's Algorithm 1 (CPU) and its naive kernel (GPU)", run_sweep);
  command.add_option("SCENE", benchmark.scene, "Scene with undistorted views; the first is the reference")
      ->required();
  benchmark.SweepPlanes::add_options(command);
  add_number(command, "--baseline-planes", benchmark.baseline_planes, "Planes on which Algorithm 1 is timed")
      ->check(CLI::Range(2, 32767));
  benchmark.BenchmarkRuns::add_options(command);
}

}  // namespace recon

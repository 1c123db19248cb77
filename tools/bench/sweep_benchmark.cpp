#include <algorithm>

#include "core/error.hpp"
#include "cuda/testing/cuda_sweep.hpp"
#include "io/colmap_model.hpp"
#include "io/image_file.hpp"
#include "match/cpu_sweep.hpp"
#include "match/posed_image.hpp"
#include "methods/backend.hpp"
#include "reference/achten_algorithm_1.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// What the H200 does at best, of its 132 multiprocessors: four instructions of a warp and 32 loads of a word
/// from the first cache in each cycle.
constexpr double kH200WarpInstructionsPerSecond = 132 * 4 * 1.98e9;
constexpr double kH200LoadsPerSecond = 132 * 32 * 1.98e9;
/// The least that a sample takes as warp_step.hpp has it: 10 for the position, 3 for the address, the load,
/// 7 for the bilinear sum, 1 for packing and difference.
constexpr double kInstructionsPerSample = 22;

struct LoadedProblem {
  std::vector<Image<std::uint8_t>> images;
  SweepProblem problem;
};

LoadedProblem load(const SweepBenchmark& benchmark) {
  const Scene scene = read_colmap_model(find_model(benchmark.scene));
  LoadedProblem loaded;
  loaded.problem.planes = make_plane_set(benchmark.near, benchmark.far, benchmark.planes);
  loaded.problem.options = {CostKind::kSad, benchmark.window, Combination::kMinimum, 1};
  for (const View& view : scene.views) {
    const std::optional<Pinhole> camera = as_pinhole(scene.cameras[static_cast<std::size_t>(view.camera)]);
    if (!camera) throw InputError(benchmark.scene.string() + ": the benchmark takes undistorted images");
    loaded.images.push_back(read_grey_image(benchmark.scene / "images" / view.name));
    PosedImage image;
    image.camera = *camera;
    image.cam_from_world = view.cam_from_world;
    image.channel[0] = loaded.images.back().view();
    (loaded.images.size() == 1 ? loaded.problem.reference : loaded.problem.sources.emplace_back()) = image;
  }
  if (loaded.problem.sources.empty())
    throw InputError(benchmark.scene.string() + ": needs two views at least");
  return loaded;
}

double sample_count(const SweepProblem& problem) {
  return static_cast<double>(problem.reference.camera.width) * problem.reference.camera.height *
         problem.planes.count * static_cast<double>(problem.sources.size());
}

/// Ours and Algorithm 1 in turns, so that both meet the same machine.
ordered_json run_on_cpu(const SweepBenchmark& benchmark, const LoadedProblem& loaded) {
  const auto backend = make_cpu_backend({benchmark.devices.threads, {}});
  SweepProblem few = loaded.problem;
  few.planes = make_plane_set(benchmark.near, benchmark.far, benchmark.baseline_planes);
  const double scale = static_cast<double>(benchmark.planes) / benchmark.baseline_planes;
  backend->sweep(loaded.problem);
  std::vector<double> ours, baseline, ratio;
  for (int i = 0; i < benchmark.cpu_repeats; ++i) {
    ours.push_back(milliseconds([&] { backend->sweep(loaded.problem); }));
    baseline.push_back(scale * milliseconds([&] { reference::sweep_algorithm_1(few); }));
    ratio.push_back(baseline.back() / ours.back());
  }
  return {{"sweep_ms", to_json(spread_of(ours))},
          {"ns_per_sample", 1e6 * spread_of(ours).median / sample_count(loaded.problem)},
          {"algorithm_1_ms", to_json(spread_of(baseline))},
          {"algorithm_1_timed_on_planes", benchmark.baseline_planes},
          {"ratio_to_algorithm_1", to_json(spread_of(ratio))}};
}

/// A path of the GPU with its share of the roofline: the instructions and the loads of the samples without
/// window halos, window sums and winners, and the bytes of a volume written (and read once more by the
/// winner).
ordered_json time_path(const LoadedProblem& loaded, cuda::SweepVariant variant, int repeats,
                       double naive_ms) {
  const cuda::SweepTimes times = cuda::time_sweep(loaded.problem, variant, repeats);
  const double samples = sample_count(loaded.problem);
  const double issue_ms = 1e3 * samples * kInstructionsPerSample / 32.0 / kH200WarpInstructionsPerSecond;
  const double load_ms = 1e3 * samples / kH200LoadsPerSecond;
  const bool stored = variant != cuda::SweepVariant::kFused;
  const double volume_bytes =
      stored ? 2.0 * 2.0 * samples / static_cast<double>(loaded.problem.sources.size()) : 0.0;
  const double bytes_ms = 1e3 * volume_bytes / kH200BytesPerSecond;
  return {{"kernels_ms", to_json(times.kernels)},
          {"whole_call_ms", to_json(times.whole)},
          {"device_bytes", times.device_bytes},
          {"source_loads", samples},
          {"load_floor_ms", load_ms},
          {"issue_floor_ms", issue_ms},
          {"volume_bytes", volume_bytes},
          {"bytes_floor_ms", bytes_ms},
          {"share_of_roofline", std::max({issue_ms, load_ms, bytes_ms}) / times.kernels.median},
          {"ratio_to_naive", naive_ms / times.kernels.median}};
}

ordered_json run_on_gpu(const SweepBenchmark& benchmark, const LoadedProblem& loaded) {
  const cuda::NaiveSweep naive = cuda::time_naive_sweep(loaded.problem, std::min(benchmark.repeats, 5));
  ordered_json result;
  result["naive_kernel_ms"] = to_json(naive.kernels);
  result["without_volume"] =
      time_path(loaded, cuda::SweepVariant::kFused, benchmark.repeats, naive.kernels.median);
  result["with_half_volume"] =
      time_path(loaded, cuda::SweepVariant::kVolume, benchmark.repeats, naive.kernels.median);
  return result;
}

}  // namespace

ordered_json run_sweep_benchmark(const SweepBenchmark& benchmark) {
  const LoadedProblem loaded = load(benchmark);
  ordered_json result;
  result["scene"] = benchmark.scene.filename().string();
  result["width"] = loaded.problem.reference.camera.width;
  result["height"] = loaded.problem.reference.camera.height;
  result["planes"] = benchmark.planes;
  result["sources"] = loaded.problem.sources.size();
  result["window"] = benchmark.window;
  result["samples"] = sample_count(loaded.problem);
  if (benchmark.devices.on_cpu()) result["cpu"] = run_on_cpu(benchmark, loaded);
  if (benchmark.devices.on_gpu()) result["cuda"] = run_on_gpu(benchmark, loaded);
  return result;
}

}  // namespace recon

#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "methods/backend.hpp"
#include "optimize/graph_cut/graph_cut.hpp"

namespace recon {

/// Where a benchmark runs.
struct BenchmarkDevices {
  std::string device = "auto";  ///< cpu, cuda, or auto: the CPU, and the GPU where there is one
  int threads = 0;              ///< of the CPU; 0: all

  bool on_cpu() const { return device != "cuda"; }
  /// @throws DeviceUnavailable where a GPU is asked for and there is none
  bool on_gpu() const {
    const CudaDevices gpus = find_cuda_devices();
    if (device == "cuda" && gpus.names.empty()) throw DeviceUnavailable(gpus.why_none);
    return device != "cpu" && !gpus.names.empty();
  }
  std::string names() const {
    const std::string gpu = on_gpu() ? find_cuda_devices().names.front() : "";
    if (!on_cpu()) return gpu;
    return make_cpu_backend({threads, {}})->name() + (gpu.empty() ? "" : "; " + gpu);
  }
};

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

/// The benchmark of cost aggregation against the radius, after Fang et al. 2012.
struct AggregationBenchmark {
  std::vector<std::filesystem::path> sets;  ///< folders of pairs, each with an info.json
  std::vector<int> radii{1, 2, 4, 6, 8, 10, 12, 14, 16};
  int repeats = 20;        ///< of the quick aggregators
  int weight_repeats = 3;  ///< of the adaptive weights
  int direct_repeats = 3;  ///< of the sequential program
  BenchmarkDevices devices;
};

/// Runs it on the CPU unless the device is "cuda": milliseconds of the constant window, of adaptive weights
/// and of one and of four iterations of crosses (arms made before) by radius, on truncated colour differences
/// of each set; then the constant window of radius 10 in turns with the sequential program that sums each
/// window directly, on 450 x 375 pixels with 64 planes. Ratios above 1 mean that we are faster. On the GPU,
/// where one is meant or found, also with shares of the bandwidth or of the arithmetic, and on a larger
/// volume.
/// @throws InputError when a set's images are not there; DeviceUnavailable
nlohmann::ordered_json run_aggregation_benchmark(const AggregationBenchmark& benchmark);

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

/// The benchmark of block matching on made pairs of several sizes.
struct BlockBenchmark {
  int repeats = 50;  ///< on the GPU
  int cpu_repeats = 20;
  BenchmarkDevices devices;
};

/// Runs it: on the CPU in turns with OpenCV's StereoBM at equal window and disparities, once with the checks
/// that both have off and once with the defaults of both; on the GPU with the share of the roofline. Times in
/// milliseconds, ratios above 1 mean that we are faster.
nlohmann::ordered_json run_block_benchmark(const BlockBenchmark& benchmark);

/// The benchmark of the graph cut: the volume of a plane sweep, one view of a scene against its other views,
/// grey ZNCC, mean of the best two views, lowered from its winners. Where SCENE/gt_depth/ has the exact depth
/// of the view (16-bit PNG, thousandths of a scene unit, 0: unknown), also the shares of wrong planes before
/// and after: more than one plane from the true depth, or none; of pixels whose truth lies among the planes.
struct GraphCutBenchmark {
  std::filesystem::path scene;
  int reference = 0;  ///< index of the view
  int planes = 256;
  int window = 7;
  double near = 0.30, far = 0.95;  ///< scene units
  BenchmarkDevices devices{"cpu"};
  /// Texture is weak where the grey levels of the window deviate from their mean by less (root mean square).
  double weak_texture = 4.0;
  bool plain = false;  ///< also all labels in one graph of the whole image: minutes to hours
  GraphCutOptions cut{0.1f, 4};
};

/// Seconds, processor seconds and energies; one run, as it takes long.
/// @throws InputError when the scene has fewer than two views or images with distortion
nlohmann::ordered_json run_graph_cut_benchmark(const GraphCutBenchmark& benchmark);

/// Predicted beside measured times of stages, at sizes, radii and numbers of planes that the calibration does
/// not have.
struct PredictBenchmark {
  std::vector<std::string> stages;  ///< of predict_stages(); empty: all that the device has
  bool calibrate = false;           ///< measure again also what is known
  bool calibrate_only = false;
  BenchmarkDevices devices;
};

/// Names of the stages.
std::vector<std::string> predict_stages();

/// Calibrates what is not known yet, keeps it, and measures beside the predictions; the table also goes to
/// standard error.
/// @throws DeviceUnavailable
nlohmann::ordered_json run_predict_benchmark(const PredictBenchmark& benchmark);

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

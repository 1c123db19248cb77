#include <functional>
#include <utility>

#include "core/parallel.hpp"
#include "cuda/testing/timing.hpp"
#include "match/transformed_image.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/block_cases.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"
#include "tools/bench/opencv_stereo.hpp"

namespace recon {

namespace {

using nlohmann::ordered_json;

/// Semi-global matching of made pairs of several sizes, 8 paths, all other options as they are by default; on
/// the GPU from images on the device to disparities on the device, whole and by stage, with the bytes that
/// each stage moves at least and the share of the ceiling that is reached.
struct SgmBenchmark : BenchmarkRuns {
  SgmBenchmark() : BenchmarkRuns{51, 21} {}
};

/// What an H200 does at best, as measured: instructions of a thread on pairs of 16 bits that come as two
/// operations (viaddmin, vimin3), or as one, per second.
constexpr double kH200PairInstructionsPerSecond = 16.5e12;

/// Of a transformed pixel on a device.
double code_bytes(Transform transform) {
  return transform == Transform::kCensus9x7 || transform == Transform::kScaledCensus ? 8 : 4;
}

/// The least that our arrangement of semi-global matching moves and does, by stage; bytes.
struct SgmRoofline {
  double transform, costs, paths, winner, disparity, median;
  double pair_steps;  ///< path costs of two planes

  explicit SgmRoofline(const PairProblem& problem) {
    const MethodSpec& options = problem.options;
    const double pixels = static_cast<double>(problem.images.left.width) * problem.images.left.height;
    const double cells = pixels * problem.options.range.count;
    const bool bytes = max_transform_cost(options.cost.transform) + options.semi_global.p2 <= 255;
    const double code = code_bytes(options.cost.transform.transform);
    const double directions = options.semi_global.paths, record = 10 * pixels;
    // A byte of every direction; or two volumes of sums of 16 bits, which every two directions are added to.
    const double stored = (bytes ? directions : 4) * cells;
    transform = 2 * pixels * (1 + code);
    costs = 2 * pixels * code + cells;
    // Both directions along the rows read the costs, those that go down read them together, so do those that
    // go up.
    paths = 4 * cells + (bytes ? stored : stored * (directions - 1));
    winner = stored + record + 4 * pixels;
    disparity = record + 8 * pixels;
    median = options.refine.median ? 8 * pixels : 0;
    pair_steps = cells * options.semi_global.paths / 2;
  }

  double all_bytes() const { return transform + costs + paths + winner + disparity + median; }
  /// A step of two planes is five such instructions at least: two minima, one with an addition, a sum of
  /// three, and its share of the least of all.
  double pair_step_seconds() const { return 5 * pair_steps / kH200PairInstructionsPerSecond; }
  double floor_seconds() const {
    const double bytes = all_bytes() / kH200BytesPerSecond;
    return bytes > pair_step_seconds() ? bytes : pair_step_seconds();
  }
};

void match(PairProblem problem, bool median) {
  problem.options.refine.median = median;
  match_pair(problem);
}

/// Times of semi-global matching on the CPU in milliseconds, whole and by stage, in turns with OpenCV's
/// StereoSGBM (8 paths, and the quick variant with 3) on as many threads; ratios above 1 mean that we are
/// faster.
ordered_json time_sgm_on_cpu(const PairProblem& problem, int repeats, int threads) {
  const GreyPair& images = problem.images;
  const MethodSpec& options = problem.options;
  ThreadLimit limit(threads);
  const int disparities = problem.options.range.count;
  const auto opencv = [&](int mode) { return opencv_semi_global(disparities, mode, limit.threads()); };
  const OpenCvStereo opencv_eight = opencv(cv::StereoSGBM::MODE_HH);
  const OpenCvStereo opencv_three = opencv(cv::StereoSGBM::MODE_SGBM_3WAY);
  const auto times =
      time_in_turns(repeats, {[&] { limit.run([&] { match(problem, options.refine.median); }); },
                              [&] { opencv_eight(images.left, images.right); },
                              [&] { limit.run([&] { match(problem, false); }); },
                              [&] { opencv_three(images.left, images.right); },
                              [&] {
                                limit.run([&] {
                                  TransformedImage(images.left, options.cost.transform, false);
                                  TransformedImage(images.right, options.cost.transform, true);
                                });
                              }});
  const auto &ours = times[0], &eight = times[1], &without_median = times[2], &three = times[3],
             &transform = times[4];
  const double cells =
      static_cast<double>(images.left.width) * images.left.height * problem.options.range.count;
  return {{"threads", limit.threads()},
          {"whole_ms", to_json(ours)},
          {"ns_per_pixel_and_disparity", 1e6 * spread_of(ours).median / cells},
          {"bytes", make_cpu_backend({limit.threads(), {}})
                        ->pair_memory(images.left.width, images.left.height, problem.options)
                        .host_bytes},
          {"stages_ms",
           {{"transform", to_json(transform)},
            {"paths_sums_winners_and_checks", to_json(by_round(without_median, transform, std::minus<>()))},
            {"median", to_json(by_round(ours, without_median, std::minus<>()))}}},
          {"opencv_hh_ms", to_json(eight)},
          {"opencv_3way_ms", to_json(three)},
          {"ratio_to_opencv_hh", to_json(ratios(eight, ours))},
          {"ratio_to_opencv_3way", to_json(ratios(three, ours))}};
}

struct Size {
  int width, height;
};
constexpr Size kSizes[] = {{640, 480}, {1024, 768}, {1280, 960}, {1920, 1080}};
constexpr int kDisparities[] = {64, 128, 256};
constexpr int kLargestOnCpu = 1280;  ///< pixels wide; OpenCV takes minutes for larger ones

ordered_json time_on_gpu(const PairProblem& problem, int repeats) {
  const cuda::StageTimes times = cuda::time_stages(problem, repeats);
  const SgmRoofline roofline(problem);
  const auto stage = [&](const char* name, double bytes) {
    const cuda::TimeSpread time = times.stage(name);
    ordered_json result = to_json(time);
    result["bytes"] = bytes;
    result["bytes_per_second"] = bytes / (1e-3 * time.median);
    result["share_of_bandwidth"] = bytes / (1e-3 * time.median) / kH200BytesPerSecond;
    return result;
  };
  return {{"whole_ms", to_json(times.kernels)},
          {"bytes", roofline.all_bytes()},
          {"bytes_floor_ms", 1e3 * roofline.all_bytes() / kH200BytesPerSecond},
          {"pair_steps", roofline.pair_steps},
          {"pair_step_floor_ms", 1e3 * roofline.pair_step_seconds()},
          {"share_of_roofline", 1e3 * roofline.floor_seconds() / times.kernels.median},
          {"call_ms", to_json(times.call)},
          {"device_bytes", times.device_bytes},
          {"stages_ms",
           {{"transform", stage("transform", roofline.transform)},
            {"costs", stage("costs", roofline.costs)},
            {"paths", stage("paths", roofline.paths)},
            {"winner", stage("winner", roofline.winner)},
            {"disparity", stage("disparity", roofline.disparity)},
            {"median", stage("median", roofline.median)}}}};
}

ordered_json run_sgm(const SgmBenchmark& benchmark) {
  const bool on_gpu = benchmark.devices.on_gpu();
  ordered_json runs = ordered_json::array();
  for (const Size size : kSizes)
    for (const int disparities : kDisparities) {
      reference::BlockPair pair = reference::textured_pair(size.width, size.height, {0, disparities}, {});
      pair.problem.options = PairSpec(presets::semi_global(), {0, disparities});
      ordered_json run = {{"width", size.width}, {"height", size.height}, {"disparities", disparities}};
      if (benchmark.devices.on_cpu() && size.width <= kLargestOnCpu)
        run["cpu"] = time_sgm_on_cpu(pair.problem, benchmark.cpu_repeats, benchmark.devices.threads);
      if (on_gpu) run["cuda"] = time_on_gpu(pair.problem, benchmark.repeats);
      runs.push_back(std::move(run));
    }
  return {{"paths", 8}, {"runs", std::move(runs)}};
}

}  // namespace

void add_sgm_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] =
      add_benchmark(app, benchmarks, "sgm",
                    "Semi-global matching of pairs beside OpenCV, with the time of each stage", run_sgm);
  benchmark.add_options(command);
}

}  // namespace recon

#include "tools/bench/sgm_benchmark.hpp"

#include "cuda/testing/cuda_pairs.hpp"
#include "tools/bench/json.hpp"
#include "tools/bench/sgm_cpu_benchmark.hpp"
#include "tools/bench/sgm_roofline.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

struct Size {
  int width, height;
};
constexpr Size kSizes[] = {{640, 480}, {1024, 768}, {1280, 960}, {1920, 1080}};
constexpr int kDisparities[] = {64, 128, 256};
constexpr int kLargestOnCpu = 1280;  ///< pixels wide; OpenCV takes minutes for larger ones

std::uint32_t hashed(std::uint32_t x, std::uint32_t y) {
  std::uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return h ^ h >> 15;
}

/// A pattern of blotches of several sizes, seen from two places: the disparity grows from top to bottom to
/// three quarters of the range.
struct SyntheticPair {
  Image<std::uint8_t> left, right;

  SyntheticPair(Size size, int disparities) : left(size.width, size.height), right(size.width, size.height) {
    const auto grey = [](int x, int y) {
      std::uint32_t sum = 0;
      for (std::uint32_t octave = 0; octave < 4; ++octave)
        sum += (hashed(static_cast<std::uint32_t>(x + 4096) >> octave,
                       static_cast<std::uint32_t>(y) >> octave | octave << 20) &
                255u);
      return static_cast<std::uint8_t>(sum / 4);
    };
    for (int y = 0; y < size.height; ++y) {
      const int disparity = disparities * 3 / 4 * y / size.height;
      for (int x = 0; x < size.width; ++x) {
        left(x, y) = grey(x - disparity, y);
        right(x, y) = grey(x, y);
      }
    }
  }
};

ordered_json time_on_gpu(const PairProblem& problem, int repeats) {
  const cuda::SemiGlobalTimes times = cuda::time_semi_global(problem, repeats);
  const SgmRoofline roofline(problem);
  const auto stage = [](const cuda::TimeSpread& time, double bytes) {
    ordered_json result = to_json(time);
    result["bytes"] = bytes;
    result["bytes_per_second"] = bytes / (1e-3 * time.median);
    result["share_of_bandwidth"] = bytes / (1e-3 * time.median) / kH200BytesPerSecond;
    return result;
  };
  return {{"whole_ms", to_json(times.whole)},
          {"bytes", roofline.all_bytes()},
          {"bytes_floor_ms", 1e3 * roofline.all_bytes() / kH200BytesPerSecond},
          {"pair_steps", roofline.pair_steps},
          {"pair_step_floor_ms", 1e3 * roofline.pair_step_seconds()},
          {"share_of_roofline", 1e3 * roofline.floor_seconds() / times.whole.median},
          {"call_ms", to_json(times.call)},
          {"device_bytes", times.device_bytes},
          {"stages_ms",
           {{"transform", stage(times.transform, roofline.transform)},
            {"costs", stage(times.costs, roofline.costs)},
            {"paths", stage(times.paths, roofline.paths)},
            {"winner", stage(times.winner, roofline.winner)},
            {"disparity", stage(times.disparity, roofline.disparity)},
            {"median", stage(times.median, roofline.median)}}}};
}

}  // namespace

ordered_json run_sgm_benchmark(const SgmBenchmark& benchmark) {
  const bool on_gpu = benchmark.devices.on_gpu();
  ordered_json runs = ordered_json::array();
  for (const Size size : kSizes)
    for (const int disparities : kDisparities) {
      const SyntheticPair pair(size, disparities);
      PairProblem problem;
      problem.images.left = pair.left.view();
      problem.images.right = pair.right.view();
      problem.options.range = {0, disparities};
      ordered_json run = {{"width", size.width}, {"height", size.height}, {"disparities", disparities}};
      if (benchmark.devices.on_cpu() && size.width <= kLargestOnCpu)
        run["cpu"] = time_sgm_on_cpu(problem, benchmark.cpu_repeats, benchmark.devices.threads);
      if (on_gpu) run["cuda"] = time_on_gpu(problem, benchmark.repeats);
      runs.push_back(std::move(run));
    }
  return {{"paths", 8}, {"runs", std::move(runs)}};
}

}  // namespace recon

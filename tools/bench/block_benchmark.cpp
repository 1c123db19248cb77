#include <algorithm>

#include "core/parallel.hpp"
#include "cuda/testing/timing.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/block_cases.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"
#include "tools/bench/opencv_stereo.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// Block matching of made pairs of several sizes: on the CPU in turns with OpenCV's StereoBM at equal window
/// and disparities, once with the checks that both have off and once with the defaults of both; on the GPU
/// with the share of the roofline.
struct BlockBenchmark : BenchmarkRuns {
  BlockBenchmark() : BenchmarkRuns{50, 20} {}
};
using reference::BlockPair;

struct Shape {
  int width, height, disparities;
};

/// Options with StereoBM's own checks alone (uniqueness), or the defaults.
BlockMatchingOptions options_of(int radius, bool defaults) {
  BlockMatchingOptions options;
  options.radius = radius;
  if (defaults) return options;
  options.left_right = -1;
  options.median = false;
  options.uniqueness = 15;
  return options;
}

BlockPair pair_of(const Shape& shape, const BlockMatchingOptions& options) {
  return reference::textured_pair(shape.width, shape.height, {0, shape.disparities}, options);
}

ordered_json shape_json(const Shape& shape, int radius, bool defaults) {
  return {{"width", shape.width},
          {"height", shape.height},
          {"disparities", shape.disparities},
          {"window", 2 * radius + 1},
          {"defaults", defaults}};
}

/// Ours and OpenCV's.
ordered_json time_on_cpu(const Shape& shape, int radius, bool defaults, int repeats, ThreadLimit& limit) {
  const BlockPair pair = pair_of(shape, options_of(radius, defaults));
  const OpenCvStereo theirs =
      opencv_block_matching(shape.disparities, 2 * radius + 1, defaults, limit.threads());
  const auto times = time_in_turns(repeats, {[&] { limit.run([&] { return block_matching(pair.problem); }); },
                                             [&] { theirs(pair.left.view(), pair.right.view()); }});
  ordered_json result = shape_json(shape, radius, defaults);
  result["ms"] = to_json(times[0]);
  result["opencv_stereobm_ms"] = to_json(times[1]);
  result["ratio_to_opencv"] = to_json(ratios(times[1], times[0]));
  return result;
}

ordered_json run_on_cpu(const BlockBenchmark& benchmark) {
  ThreadLimit limit(benchmark.devices.threads);
  ordered_json runs = ordered_json::array();
  for (const Shape& shape : {Shape{640, 480, 64}, {640, 480, 128}, {1280, 960, 64}, {1280, 960, 128}})
    for (const int radius : {4, 7, 10})
      for (const bool defaults : {false, true})
        runs.push_back(time_on_cpu(shape, radius, defaults, benchmark.cpu_repeats, limit));
  return {{"threads", limit.threads()}, {"runs", runs}};
}

/// Instructions that a sample cannot do without, two samples at a time: the bytes that enter and leave taken
/// apart and subtracted (4), the column and the window rolled (2), the minimum (1). Halos, first rows and
/// what is done once a pixel come on top.
constexpr double kSearchInstructionsPerSample = 7.0 / 2.0;
/// Of an H200, measured: vector absolute differences, permutations and additions, 63 per clock and
/// multiprocessor.
constexpr double kInstructionsPerSecond = 16.5e12;

/// Bytes that have to be moved: the images read, prepared ones written and read, disparities written and read
/// with winners and claims, the map written.
double byte_count(const Shape& shape) {
  return static_cast<double>(shape.width) * shape.height * (2 + 2 * 2 + 2 * (4 + 2 + 8) + 4);
}

ordered_json time_on_gpu(const Shape& shape, int radius, bool defaults, int repeats) {
  const BlockPair pair = pair_of(shape, options_of(radius, defaults));
  const cuda::StageTimes times = cuda::time_stages(pair.problem, repeats);
  const double samples = static_cast<double>(shape.width) * shape.height * shape.disparities;
  const double issue_ms = 1e3 * samples * kSearchInstructionsPerSample / kInstructionsPerSecond;
  const double bytes_ms = 1e3 * byte_count(shape) / kH200BytesPerSecond;
  ordered_json result = shape_json(shape, radius, defaults);
  result["device_resident_ms"] = to_json(times.kernels);
  result["search_ms"] = to_json(times.stage("search"));
  result["whole_call_ms"] = to_json(times.call);
  result["device_bytes"] = times.device_bytes;
  result["instructions"] = samples * kSearchInstructionsPerSample;
  result["issue_floor_ms"] = issue_ms;
  result["bytes"] = byte_count(shape);
  result["bytes_floor_ms"] = bytes_ms;
  result["share_of_roofline"] = std::max(issue_ms, bytes_ms) / times.kernels.median;
  return result;
}

ordered_json run_on_gpu(const BlockBenchmark& benchmark) {
  ordered_json result;
  result["runs"] = ordered_json::array();
  for (const Shape& shape :
       {Shape{640, 480, 64}, {640, 480, 128}, {1280, 960, 128}, {1920, 1080, 128}, {1920, 1080, 256}})
    for (const bool defaults : {false, true})
      result["runs"].push_back(time_on_gpu(shape, 9, defaults, benchmark.repeats));
  for (const int radius : {1, 4, 7, 12, 15})
    result["runs"].push_back(time_on_gpu({1920, 1080, 128}, radius, true, benchmark.repeats));
  return result;
}

ordered_json run_block(const BlockBenchmark& benchmark) {
  ordered_json result;
  if (benchmark.devices.on_cpu()) result["cpu"] = run_on_cpu(benchmark);
  if (benchmark.devices.on_gpu()) result["cuda"] = run_on_gpu(benchmark);
  return result;
}

}  // namespace

void add_block_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] =
      add_benchmark(app, benchmarks, "bm", "Block matching of pairs beside OpenCV's StereoBM", run_block);
  benchmark.add_options(command);
}

}  // namespace recon

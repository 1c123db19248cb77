#include <ctime>
#include <filesystem>
#include <reconstruct/stereo.hpp>
#include <string>

#include "core/parallel.hpp"
#include "session/pair/pair_input.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"

namespace recon {

namespace {

using nlohmann::ordered_json;

/// Semi-global matching of two images that are in memory, with the default options, on the CPU: what the
/// program calls between its check of a pair and its writing, in turns with the public call of the library.
struct MatchBenchmark {
  std::filesystem::path left, right;
  int max_disparity = 192, repeats = 5;
  BenchmarkDevices devices{.device = "cpu"};
};

/// Milliseconds of each call; of all threads.
struct CallTimes {
  std::vector<double> wall, processor;

  void add(const std::function<void()>& call) {
    const std::clock_t start = std::clock();
    wall.push_back(milliseconds(call));
    processor.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
};

ordered_json times_json(const CallTimes& times) {
  return {{"wall_ms", times.wall}, {"processor_ms", times.processor}};
}

ordered_json run_match(const MatchBenchmark& benchmark) {
  PairImages images = common_depth(read_stored_grey(benchmark.left), read_stored_grey(benchmark.right));
  const reconstruct::ImageView views[] = {
      {images.left.row(0), images.left.width(), images.left.height(), images.left.pitch()},
      {images.right.row(0), images.right.width(), images.right.height(), images.right.pitch()}};
  const std::string max = std::to_string(benchmark.max_disparity);
  const PairJob job = parse_options({{"max-disparity", {max}}}).pair_job();
  const PairProblem problem{images.view(), PairSpec(job.spec, {0, benchmark.max_disparity}), {}};
  ThreadLimit limit(benchmark.devices.threads);
  const auto backend = make_cpu_backend({limit.threads(), {}});
  const reconstruct::Device device({"cpu", limit.threads(), {}, {}});
  CallTimes program, library;
  for (int round = -1; round < benchmark.repeats; ++round) {
    if (round == 0) program = library = {};  // the first round warms up
    program.add([&] { limit.run([&] { match_pair(*backend, problem, job.min_patch); }); });
    library.add([&] { reconstruct::match(device, views[0], views[1], {{"max-disparity", max}}); });
  }
  return {{"threads", limit.threads()},     {"width", views[0].width},
          {"height", views[0].height},      {"disparities", benchmark.max_disparity},
          {"program", times_json(program)}, {"library", times_json(library)}};
}

}  // namespace

void add_match_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] =
      add_benchmark(app, benchmarks, "match",
                    "The program's matching of two images beside the call of the library", run_match);
  command.add_option("left", benchmark.left, "The left image, grey")->required();
  command.add_option("right", benchmark.right, "The right image, grey")->required();
  add_count(command, "--max-disparity", benchmark.max_disparity, "Disparities, from 0");
  add_count(command, "--repeat", benchmark.repeats, "Repeats");
  add_threads(command, benchmark.devices);
}

}  // namespace recon

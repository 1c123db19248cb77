#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "cuda/testing/timing.hpp"
#include "io/image/image_file.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/belief_problems.hpp"
#include "reference/belief_reference.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/bench/measurement.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// Belief propagation on the five sets of the paper: on the CPU in turns with the single-thread transcription
/// of the textbook, on the GPU per storage, kernels and whole calls. `bad_1` is the share of the pixels
/// with ground truth that are wrong by more than one pixel.
struct BeliefBenchmark : BenchmarkRuns {
  BeliefBenchmark() : BenchmarkRuns{50, 5} {}
  std::filesystem::path folder;   ///< with a folder per set
  std::vector<std::string> sets;  ///< of those, by name; empty: all
};
using reference::PaperSet;

struct Storage {
  const char* name;
  BeliefStorage storage;
  double bytes;
};
constexpr Storage kStorages[] = {{"float", BeliefStorage::kFloat, 4},
                                 {"half", BeliefStorage::kHalf, 2},
                                 {"bfloat16", BeliefStorage::kBfloat16, 2}};

struct LoadedSet {
  const PaperSet& set;
  reference::BeliefPair pair;
  Image<std::uint8_t> truth;

  PairProblem problem(BeliefStorage storage) const {
    BeliefOptions options;
    options.storage = storage;
    return pair.problem({0, set.disparities}, options);
  }
};

ordered_json run_on_cpu(const BeliefBenchmark& benchmark, const LoadedSet& loaded) {
  ThreadLimit limit(benchmark.devices.threads);
  const PairProblem exact = loaded.problem(BeliefStorage::kFloat);
  DisparityMap expected, maps[std::size(kStorages)];
  std::vector<std::function<void()>> works{[&] { expected = reference::belief_matching(exact); }};
  for (std::size_t s = 0; s < std::size(kStorages); ++s)
    works.push_back([&, s, problem = loaded.problem(kStorages[s].storage)] {
      maps[s] = limit.run([&] { return belief_matching(problem); });
    });
  const auto times = time_in_turns(benchmark.cpu_repeats, works);
  ordered_json result{{"threads", limit.threads()}, {"transcription_ms", to_json(times[0])}};
  result["transcription_bad_1"] = reference::bad_share(expected, loaded.truth.view(), loaded.set);
  for (std::size_t s = 0; s < std::size(kStorages); ++s)
    result[kStorages[s].name] = {
        {"ms", to_json(times[s + 1])},
        {"ratio_to_transcription", to_json(ratios(times[0], times[s + 1]))},
        {"pixels_unlike_transcription", differing_pixels(expected.disparity, maps[s].disparity)},
        {"bad_1", reference::bad_share(maps[s], loaded.truth.view(), loaded.set)}};
  return result;
}

/// The least that has to be moved: per updated pixel its costs and four messages read and four written, costs
/// written and summed up, and all read once more by the choice.
double min_bytes(const LoadedSet& loaded, const BeliefOptions& options, double bytes) {
  double pixels = static_cast<double>(loaded.truth.width()) * loaded.truth.height(), total = 5 * pixels;
  for (int level = 0; level < options.levels; ++level, pixels /= 4)
    total += pixels * (4.5 * options.iterations + (level == 0 ? 1 : 2));
  return total * loaded.set.disparities * bytes;
}

ordered_json run_on_gpu(const BeliefBenchmark& benchmark, const LoadedSet& loaded) {
  const auto backend = make_cuda_backend({});
  ordered_json result;
  for (const Storage& storage : kStorages) {
    const PairProblem problem = loaded.problem(storage.storage);
    const cuda::StageTimes times = cuda::time_stages(problem, benchmark.repeats);
    const double bytes = min_bytes(loaded, problem.options.belief, storage.bytes);
    const double floor_ms = 1e3 * bytes / kH200BytesPerSecond;
    result[storage.name] = {
        {"kernel_ms", to_json(times.kernels)},
        {"whole_call_ms", to_json(times.call)},
        {"device_bytes", times.device_bytes},
        {"bytes_moved_at_least", bytes},
        {"bytes_floor_ms", floor_ms},
        {"share_of_bandwidth", floor_ms / times.kernels.median},
        {"bad_1", reference::bad_share(backend->match(problem), loaded.truth.view(), loaded.set)}};
  }
  return result;
}

ordered_json run_belief(const BeliefBenchmark& benchmark) {
  const bool on_gpu = benchmark.devices.on_gpu();
  ordered_json result = ordered_json::object();
  for (const PaperSet& set : reference::paper_sets()) {
    const auto& wanted = benchmark.sets;
    if (!wanted.empty() && std::ranges::find(wanted, set.name) == wanted.end()) continue;
    const std::filesystem::path folder = benchmark.folder / set.name;
    const LoadedSet loaded{
        set,
        {read_grey_image(folder / "refImage.pgm"), read_grey_image(folder / "testImage.pgm")},
        read_grey_image(folder / set.truth)};
    ordered_json& of_set = result["sets"][set.name];
    of_set = {
        {"width", loaded.truth.width()}, {"height", loaded.truth.height()}, {"disparities", set.disparities}};
    if (benchmark.devices.on_cpu()) of_set["cpu"] = run_on_cpu(benchmark, loaded);
    if (on_gpu) of_set["cuda"] = run_on_gpu(benchmark, loaded);
  }
  return result;
}

}  // namespace

void add_belief_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] = add_benchmark(
      app, benchmarks, "bp",
      "Belief propagation on the paper's sets against a single-thread transcription of the textbook",
      run_belief);
  command.add_option("FOLDER", benchmark.folder, "Folder with a folder per set")->required();
  command.add_option("--set", benchmark.sets, "Only these sets");
  benchmark.add_options(command);
}

}  // namespace recon

#include <oneapi/tbb/task_arena.h>

#include <mutex>

#include "core/counted_memory.hpp"
#include "match/cpu_sweep.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/sweep/view_sweep.hpp"

namespace recon {
namespace {

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options) : options_(options), arena_(threads_of(options)) {}

  std::string name() const override {
    return "CPU, " + std::to_string(arena_.max_concurrency()) + " threads, " + sweep_instruction_set();
  }

  int streams() const override { return 1; }  // each call uses all threads

  WorkMemory memory(const SweepShape& shape) const override {
    WorkMemory memory;
    memory.host_bytes = counted_bytes(arena_.max_concurrency(), [&] { sweep_view(sized_problem(shape)); });
    if (options_.memory_limit && memory.host_bytes > *options_.memory_limit)
      throw OutOfMemory(
          "a view of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + " with " +
          std::to_string(shape.sources) + " sources and " + std::to_string(shape.planes) + " planes needs " +
          std::to_string(memory.host_bytes >> 20) + " MiB, the limit is " +
          std::to_string(*options_.memory_limit >> 20) +
          " MiB; raise --memory-limit, or lower --max-image-size or --sources" +
          (label_optimizer(shape) == Optimizer::kWinnerTakeAll ? ""
                                                               : " or --planes, or take --optimizer winner"));
    return memory;
  }

  DepthEstimate sweep(const SweepProblem& problem) override {
    const std::lock_guard lock(mutex_);
    return arena_.execute([&] { return sweep_view(problem); });
  }

  WorkMemory pair_memory(int width, int height, const PairSpec& options) const override {
    WorkMemory memory;
    memory.host_bytes = counted_bytes(arena_.max_concurrency(), [&] {
      const Image<std::uint8_t> left(width, height), right(width, height);
      const Image<std::uint16_t> left16(width, height), right16(width, height);
      const int coloured = fused_stages(options) ? 0 : width;
      const Image<Rgb8> left_colour(coloured, height), right_colour(coloured, height);
      match_pair({{left.view(), right.view(), left16.view(), right16.view()},
                  options,
                  {left_colour.view(), right_colour.view()}});
    });
    if (options_.memory_limit && memory.host_bytes > *options_.memory_limit)
      throw OutOfMemory("a pair of " + std::to_string(width) + "x" + std::to_string(height) + " with " +
                        std::to_string(options.range.count) + " disparities needs " +
                        std::to_string(memory.host_bytes >> 20) + " MiB, the limit is " +
                        std::to_string(*options_.memory_limit >> 20) + " MiB");
    return memory;
  }

  DisparityMap match(const PairProblem& problem) override {
    const std::lock_guard lock(mutex_);
    return arena_.execute([&] { return match_pair(problem); });
  }

 private:
  static int threads_of(const CpuOptions& options) {
    return options.threads > 0 ? options.threads : oneapi::tbb::task_arena::automatic;
  }

  CpuOptions options_;
  oneapi::tbb::task_arena arena_;
  std::mutex mutex_;  ///< of the call in progress
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace recon

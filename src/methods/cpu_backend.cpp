#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "match/cpu_sweep.hpp"
#include "methods/admission.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/semi_global_sweep.hpp"
#include "methods/sweep/sweep_tiles.hpp"
#include "methods/sweep/volume_sweep.hpp"
#include "methods/sweep/winner_depth.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon {
namespace {

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options) : options_(options), arena_(threads_of(options)) {}

  std::string name() const override {
    return "CPU, " + std::to_string(arena_.max_concurrency()) + " threads, " + sweep_instruction_set();
  }

  int streams() const override { return admission_.streams(); }

  WorkMemory memory(const SweepShape& shape) const override {
    const TileSize tile = sweep_tile_size(shape.width, shape.height, shape.planes, shape.options.window);
    const auto threads = static_cast<std::size_t>(arena_.max_concurrency());
    const auto images = static_cast<std::size_t>(shape.sources) * static_cast<std::size_t>(shape.channels) *
                        SampledImage::bytes(shape.source_width, shape.source_height);
    const std::size_t results = 3 * sizeof(float) *
                                static_cast<std::size_t>(padded_count<float>(shape.width)) *
                                static_cast<std::size_t>(shape.height);
    WorkMemory memory;
    memory.host_bytes = images + results + threads * (tile.volume_bytes + kScratchBytes);
    if (needs_volume(shape.optimizer, shape.stages))
      memory.host_bytes += volume_sweep_bytes(shape, arena_.max_concurrency());
    else if (shape.optimizer == SweepOptimizer::kSemiGlobal)
      memory.host_bytes += semi_global_sweep_bytes(shape.width, shape.height, shape.planes, shape.paths,
                                                   arena_.max_concurrency());
    const int columns = (shape.width + tile.width - 1) / tile.width;
    const int rows = (shape.height + tile.height - 1) / tile.height;
    memory.tiles = columns * rows;
    if (options_.memory_limit && memory.host_bytes > *options_.memory_limit)
      throw OutOfMemory(
          "a view of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + " with " +
          std::to_string(shape.sources) + " sources and " + std::to_string(shape.planes) + " planes needs " +
          std::to_string(memory.host_bytes >> 20) + " MiB, the limit is " +
          std::to_string(*options_.memory_limit >> 20) +
          " MiB; raise --memory-limit, or lower --max-image-size or --sources" +
          (shape.optimizer == SweepOptimizer::kWinnerTakeAll ? ""
                                                             : " or --planes, or take --optimizer winner"));
    return memory;
  }

  DepthEstimate sweep(const SweepProblem& problem) override {
    const auto permit = admission_.admit();
    return arena_.execute([&] {
      if (needs_volume(problem.optimizer, problem.stages)) return volume_sweep(problem);
      return problem.optimizer == SweepOptimizer::kSemiGlobal ? semi_global_sweep(problem)
                                                              : winner_sweep(problem);
    });
  }

  WorkMemory pair_memory(int width, int height, const PairOptions& options) const override {
    WorkMemory memory;
    memory.host_bytes = match_pair_bytes(width, height, options, arena_.max_concurrency());
    if (options_.memory_limit && memory.host_bytes > *options_.memory_limit)
      throw OutOfMemory("a pair of " + std::to_string(width) + "x" + std::to_string(height) + " with " +
                        std::to_string(options.range.count) + " disparities needs " +
                        std::to_string(memory.host_bytes >> 20) + " MiB, the limit is " +
                        std::to_string(*options_.memory_limit >> 20) + " MiB");
    return memory;
  }

  DisparityMap match(const PairProblem& problem) override {
    const auto permit = admission_.admit();
    return arena_.execute([&] { return match_pair(problem); });
  }

 private:
  /// Upper bound of one thread's rows, sums and winners for the largest tile and number of sources.
  static constexpr std::size_t kScratchBytes = std::size_t{2} << 20;

  static int threads_of(const CpuOptions& options) {
    return options.threads > 0 ? options.threads : oneapi::tbb::task_arena::automatic;
  }

  static DepthEstimate winner_sweep(const SweepProblem& problem) {
    const int width = problem.reference.camera.width, height = problem.reference.camera.height;
    const CpuSweep sweep =
        prepare_cpu_sweep(problem.reference, problem.sources, problem.planes, problem.options);
    DepthEstimate estimate{Image<float>(width, height), Image<float>(width, height),
                           Image<float>(width, height)};
    sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> volume) {
      std::vector<Winner> winners(static_cast<std::size_t>(tile.width));
      for (int row = 0; row < tile.height; ++row) {
        winner_take_all(volume, row, winners.data());
        for (int column = 0; column < tile.width; ++column)
          store_winner(winners[static_cast<std::size_t>(column)], problem.planes, tile.x + column,
                       tile.y + row, estimate);
      }
    });
    return estimate;
  }

  static void store_winner(const Winner& winner, const PlaneSet& planes, int x, int y,
                           DepthEstimate& estimate) {
    const WinnerDepth result = winner_depth(winner, planes);
    estimate.depth(x, y) = result.depth;
    estimate.cost(x, y) = result.cost;
    estimate.confidence(x, y) = result.confidence;
  }

  CpuOptions options_;
  oneapi::tbb::task_arena arena_;
  Admission admission_{1};  // each call uses all threads
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace recon

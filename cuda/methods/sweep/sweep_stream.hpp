#pragma once

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/methods/staging.hpp"
#include "cuda/methods/sweep/block_costs.hpp"
#include "cuda/methods/sweep/image_cache.hpp"
#include "cuda/methods/sweep/patch_match.hpp"
#include "cuda/methods/sweep/sweep_plan.hpp"
#include "match/cpu_sweep.hpp"
#include "methods/sweep/plane_sweep.hpp"

namespace recon::cuda {

/// Resources to sweep one view at a time on one device: a stream, an arena, page-locked memory. Not
/// thread-safe; the device must be current in the calling thread.
class SweepStream {
 public:
  /// @param host_threads  for the host's part of a sweep, or task_arena::automatic
  /// @param cache  of sources, shared by the streams of a device; null: `sweep` uploads them all
  explicit SweepStream(int host_threads = oneapi::tbb::task_arena::automatic, ImageCache* cache = nullptr)
      : host_threads_(host_threads), cache_(cache) {}

  /// Sweeps one view according to `plan`.
  /// @throws OutOfMemory, DeviceError
  DepthEstimate sweep(const SweepProblem& problem, const SweepPlan& plan);

  /// The parts of `sweep`, for separate measurements and for tests; `upload` first.
  void upload(const SweepProblem& problem, const SweepPlan& plan);
  /// Queues the kernels for the rows from `row_begin` on; calls `stored` after each range of stored planes
  /// (for tests).
  void queue_kernels(const SweepProblem& problem, const SweepPlan& plan, int row_begin,
                     const std::function<void(int plane_begin, int planes)>& stored = {});

  const WorkMemoryMap& memory() const { return map_; }
  const Stream& stream() const { return stream_; }
  std::size_t arena_capacity() const { return arena_.capacity(); }
  /// Frees the device memory if it would exceed `bytes` with what a sweep according to `plan` adds to it.
  void limit_memory(const SweepPlan& plan, std::size_t bytes) {
    if (std::max(arena_.capacity(), plan.bytes) > bytes) release();
  }
  /// Frees the device memory.
  void release() { arena_.release(); }

 private:
  DepthEstimate sweep_coarsest(const SweepProblem& problem, const SweepPlan& plan);
  /// Refines slanted patches from the depths of the coarsest level.
  DepthEstimate refine(const SweepProblem& problem, const SweepPlan& plan, const DepthEstimate& coarsest);
  PatchArgs upload_level(const SweepImages& images, const SweepPlan& plan, PatchMemory& memory);
  void queue_choice(PatchArgs args, int band_rows);
  /// Queues a block (tile of a view), from costs to results; if the rest runs on the host, returns the
  /// aggregated costs instead.
  DeviceVolume queue_block(const SweepProblem& problem, const SweepPlan& plan, const Tile& outer);
  /// Queues the costs of the rows of `plan` from `row` on, in ranges of planes that the volume stores; `use`
  /// queues the processing of each.
  void queue_planes(const SweepProblem& problem, const SweepPlan& plan, SweepArgs args, int row,
                    const std::function<void(const BlockPiece&)>& use);
  /// The same for all rows of a block.
  void queue_pieces(const SweepProblem& problem, const SweepPlan& plan, const SweepArgs& args,
                    const std::function<void(const BlockPiece&)>& use);
  DeviceVolume queue_costs(const SweepProblem& problem, const SweepPlan& plan, const SweepArgs& args);
  void queue_paths(const SweepProblem& problem, const SweepPlan& plan, const SweepArgs& args,
                   const QuantizedCosts& quantized);
  /// The host's part of a block. @throws OutOfMemory
  void finish_block(const SweepProblem& problem, const SweepBlock& block, const DeviceVolume& costs,
                    DepthEstimate& estimate);
  void download(const SweepBlock& block, DepthEstimate& estimate);

  void upload_bytes(const PosedImage& image, int c, std::uint8_t* device);
  void upload_source(const PosedImage& image, int c, SourceStorage storage, std::uint8_t* bytes,
                     void*& memory);

  int host_threads_;
  ImageCache* cache_;
  std::vector<ImageCache::Use> uses_;  ///< of the sweep in progress
  Stream stream_;
  Arena arena_;
  Staging staging_;
  WorkMemoryMap map_{};
};

}  // namespace recon::cuda

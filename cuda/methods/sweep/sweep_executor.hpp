#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/methods/sweep/sweep_stages.hpp"
#include "cuda/methods/workspace.hpp"
#include "methods/sweep/plane_sweep.hpp"

namespace recon::cuda {

/// The fastest plan that fits.
/// @param memory_limit  bytes per sweep
/// @param storage       empty: quads if they fit
/// @throws std::logic_error if an option is out of range; UsageError for more planes than a GPU follows;
/// OutOfMemory if the smallest pieces do not fit, with the bytes needed and the options that lower them
SweepPlan plan_sweep(const SweepShape& shape, std::size_t memory_limit,
                     std::optional<SourceStorage> storage = {});

/// Depth, cost and confidence of a view on the device.
struct DeviceEstimate {
  float* maps[3];
  std::ptrdiff_t pitch;  ///< floats from one row to the next
  int width, height;
};

/// Runs the stages of a view without patches, block by block.
class BlockExecutor {
 public:
  /// Makes the arena large enough for the plan, takes the memory of the images from there (the contents are
  /// lost), and queues their upload.
  /// @param plan    for the shape of the problem
  /// @param cached  longer-lived
  /// @throws std::logic_error if an image has another size than its camera; OutOfMemory, DeviceError
  BlockExecutor(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                CachedSources& cached);

  /// The parts of the view that are processed one after the other: blocks, or groups of rows.
  const std::vector<SweepBlock>& blocks() const { return blocks_; }

  /// Queues the stages of a block on the device.
  void queue(const SweepBlock& block);

  /// Downloads the results of the block that was queued last, or has the host compute them from its costs.
  /// @param[out] view  gets those of the block's inner pixels; complete on return
  /// @throws OutOfMemory, DeviceError
  void finish(const SweepBlock& block, DepthEstimate& view);

  /// Queues the copy of those results to maps of the view, for methods without a part that the host computes.
  void copy(const SweepBlock& block, const DeviceEstimate& view);

  /// What the stages of that block have left.
  const BlockStages& queued() const { return stages_; }

 private:
  const SweepProblem& problem_;
  const SweepPlan plan_;
  const SweepShape shape_;
  Workspace& workspace_;
  const std::vector<SweepBlock> blocks_;
  DeviceImages images_;
  std::size_t images_end_;  ///< of the arena; the memory of a block follows
  BlockStages stages_;
  DeviceVolume costs_;  ///< aggregated
};

/// Sweeps one view and, where the method says so, refines slanted patches from there, on the current device:
/// bit-identical to recon::sweep_view, except for adaptive weights (see cuda/aggregate/adaptive_weight.hpp).
/// @param plan   for the shape of the problem
/// @param cache  of sources, shared by the streams of a device; null: all are uploaded
/// @throws OutOfMemory, DeviceError
DepthEstimate sweep_view(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                         ImageCache* cache = nullptr);

/// Queues the same; the maps stay on the device. The host takes no part, so a graph cut is not among the
/// stages.
/// @param problem  whose images are on the device
/// @param swept    memory for the maps of what is swept by planes: the view, or with patches its coarsest
/// level
/// @return the maps, which may be in the arena of the workspace
/// @throws OutOfMemory, DeviceError
DeviceEstimate queue_view(const SweepProblem& problem, const SweepPlan& plan, Workspace& workspace,
                          const DeviceEstimate& swept);

}  // namespace recon::cuda

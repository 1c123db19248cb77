#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cuda/device/volume.hpp"
#include "cuda/methods/stereo/pair_stream.hpp"
#include "cuda/methods/stereo/pipeline_memory.hpp"
#include "match/ad_census.hpp"

namespace recon::cuda {

/// Called with the name of each queued step.
using PipelineMark = std::function<void(const char* step)>;

/// Pipelines of separate stages over a cost volume. Both views are matched concurrently if their volumes are
/// small, else one after the other in the same memory. A graph cut is computed by the host.
class PipelineStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairOptions& options);
  /// Host bytes of a graph cut on `threads` threads, with the costs that it takes; 0 without one.
  static std::size_t host_bytes(const PairShape& shape, const PairOptions& options, int threads);

  /// @throws std::logic_error if an option is out of range; OutOfMemory
  PipelineStream(const PairShape& shape, const PairOptions& options, Arena& arena);

  /// @throws std::logic_error if an image is not of the shape, and for a missing grey image that is needed
  void upload(const PairProblem& problem, PairWorkspace& workspace) override;
  void queue(PairWorkspace& workspace) const override { queue(workspace, {}); }
  Image<float> download(PairWorkspace& workspace) const override;

  /// Queues the steps sequentially and calls `mark` after each: "images", "cost", "aggregation" and the
  /// optimizer for each view, and then those of the refinement.
  void queue(PairWorkspace& workspace, const PipelineMark& mark) const;

 private:
  void queue_images(cudaStream_t stream) const;
  void queue_costs(PairSide side, const DeviceVolume& costs, cudaStream_t stream) const;
  DeviceVolume aggregate(PairSide side, const DeviceVolume& costs, cudaStream_t stream) const;
  DeviceVolume queue_scanline_means(PairSide side, const DeviceVolume& costs, cudaStream_t stream) const;
  void queue_paths(PairSide side, const DeviceVolume& costs, float* disparity, const Stream& stream) const;
  void cut(PairSide side, const DeviceVolume& costs, float* disparity, PairWorkspace& workspace) const;
  DeviceVolume match(PairSide side, float* disparity, const Stream& stream, const PipelineMark& mark) const;
  DeviceVolume match_both(PairWorkspace& workspace, const PipelineMark& mark) const;
  void queue_repair(cudaStream_t stream, const PipelineMark& mark) const;
  void queue_map_steps(const DeviceVolume& costs, cudaStream_t stream, const PipelineMark& mark) const;
  const float* result() const;

  PairShape shape_;
  DisparityRange range_;
  PipelineOptions options_;
  CostTables tables_;
  PipelineBuffers at_;
  ImageView<const std::uint8_t> guide_[2];  ///< on the host
  /// Resources for matching the right view concurrently; null: not concurrent.
  struct Side {
    Stream stream;
    Event begins, ends;
  };
  std::unique_ptr<Side> side_;
};

}  // namespace recon::cuda

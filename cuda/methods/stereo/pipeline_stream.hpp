#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/image.hpp"
#include "cuda/device/volume.hpp"
#include "cuda/methods/stereo/pair_stream.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "cuda/refine/outliers.hpp"
#include "match/ad_census.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

inline bool is_scanline(const MethodSpec& pipeline) {
  return pipeline.optimizer == Optimizer::kScanline;
}
inline bool is_semi_global(const MethodSpec& pipeline) {
  return pipeline.optimizer == Optimizer::kSemiGlobal;
}
inline bool is_transform(const MethodSpec& pipeline) {
  return pipeline.cost.kind == CostKind::kTransform;
}
inline bool is_ad_census(const MethodSpec& pipeline) {
  return pipeline.cost.kind == CostKind::kAdCensus;
}

/// The transform of the costs; not for kColourDifference.
inline TransformOptions transform_of(const MethodSpec& pipeline) {
  return is_ad_census(pipeline) ? TransformOptions{Transform::kCensus9x7} : pipeline.cost.transform;
}

/// Memory for matching a view.
struct PipelineViewBuffers {
  float* costs;
  std::byte* scratch;  ///< for the aggregation, or for a second volume
  std::uint8_t* quantized;
  SemiGlobal::Buffers paths;
};

/// Device memory of a pipeline; images without padding.
struct PipelineBuffers {
  PairGrey grey;
  Rgb8* colours[2];    ///< left and right, as in all arrays of two here
  std::uint8_t* luma;  ///< of the colours, one at a time
  std::byte* transformed[2];
  float* tables;  ///< CostTables
  std::uint8_t* edges[2];
  Cross* arms[2];
  PipelineViewBuffers view[2];
  float *left, *right, *spare;
  float* subpixel;  ///< the left disparities of the semi-global optimizer with their sub-pixel part
  Outlier* outliers;
  std::int16_t* bins;
  OutlierList list;
  float* reliable;
  int *labels, *sizes, *strips;
};

/// The input of the semi-global optimizer of a view, without costs and guide.
SemiGlobalInput pipeline_path_input(const PairShape& shape, int planes, const MethodSpec& pipeline);

/// Whether both views have their own memory, so that they can be matched concurrently.
bool side_by_side(const PairShape& shape, int planes, const MethodSpec& pipeline);

/// Takes the memory of a pipeline from `arena`.
PipelineBuffers take_pipeline_buffers(const PairShape& shape, int planes, const MethodSpec& pipeline,
                                      Arena& arena);

/// Called with the name of each queued step.
using PipelineMark = std::function<void(const char* step)>;

/// Pipelines of separate stages over a cost volume. Both views are matched concurrently if their volumes are
/// small, else one after the other in the same memory. A graph cut is computed by the host.
class PipelineStream : public PairStream {
 public:
  static std::size_t bytes(const PairShape& shape, const PairSpec& options);
  /// Host bytes of a graph cut on `threads` threads, with the costs that it takes; 0 without one.
  static std::size_t host_bytes(const PairShape& shape, const PairSpec& options, int threads);

  /// @throws std::logic_error if an option is out of range; OutOfMemory
  PipelineStream(const PairShape& shape, const PairSpec& options, Arena& arena);

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
  MethodSpec options_;
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

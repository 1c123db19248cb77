#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/methods/stereo/pair_grey.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "cuda/refine/outliers.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

inline bool is_scanline(const PipelineOptions& pipeline) {
  return pipeline.optimizer == PipelineOptimizer::kScanline;
}
inline bool is_semi_global(const PipelineOptions& pipeline) {
  return pipeline.optimizer == PipelineOptimizer::kSemiGlobal;
}
inline bool is_transform(const PipelineOptions& pipeline) {
  return pipeline.cost == PipelineCost::kTransform;
}
inline bool is_ad_census(const PipelineOptions& pipeline) {
  return pipeline.cost == PipelineCost::kAdCensus;
}

/// The transform of the costs; not for kColourDifference.
inline TransformOptions transform_of(const PipelineOptions& pipeline) {
  return is_ad_census(pipeline) ? TransformOptions{Transform::kCensus9x7} : pipeline.transform;
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
SemiGlobalInput pipeline_path_input(const PairShape& shape, int planes, const PipelineOptions& pipeline);

/// Whether both views have their own memory, so that they can be matched concurrently.
bool side_by_side(const PairShape& shape, int planes, const PipelineOptions& pipeline);

/// Takes the memory of a pipeline from `arena`.
PipelineBuffers take_pipeline_buffers(const PairShape& shape, int planes, const PipelineOptions& pipeline,
                                      Arena& arena);

}  // namespace recon::cuda

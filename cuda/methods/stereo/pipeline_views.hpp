#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "match/cross_arms_step.hpp"

namespace recon::cuda {

/// The images of a pipeline on the device and what is derived from them, left and right, without padding;
/// null where no stage needs them.
struct PipelineImages {
  PairGrey grey;
  Rgb8* colours[2];
  std::byte* transformed[2];  ///< ranks or censuses
  float* tables;              ///< CostTables
  std::uint8_t* edges[2];     ///< see queue_edges
  Cross* arms[2];
};

/// Disparities of the views, without padding.
struct PipelineMaps {
  float *left, *right;  ///< right: null without left-right check
  float* subpixel;      ///< the left ones of the semi-global optimizer with their sub-pixel part, or null
};

/// Adds the steps after the winners of both views and the download of the result.
void add_refinement(const PairShape& shape, const PairSpec& options, const PipelineImages& images,
                    const PipelineMaps& maps, Arena& arena, PairStages& stages);

}  // namespace recon::cuda

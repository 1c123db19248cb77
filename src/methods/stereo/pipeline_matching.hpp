#pragma once

#include <cstddef>
#include <functional>

#include "methods/stereo/pair.hpp"

namespace recon {

/// A rectified pair and the pipeline that matches it.
struct PipelineProblem {
  GreyPair grey;  ///< for kTransform, kSemiGlobal and the graph cut; otherwise it may be empty
  ColourPair colour;
  DisparityRange range;
  PipelineOptions options;
};

/// Receives the left map after a stage, with the stage's name, for measurements.
using PipelineObserver = std::function<void(const char* step, ImageView<const float> disparity)>;

/// Matches a pair by separate stages over a cost volume: cost, aggregation, optimizer, and the refinement in
/// the order of PipelineRefinement. The right view is matched separately if the left-right check is enabled.
/// After the optimizer every pixel has a disparity, the lowest one on ties; only outliers that are not
/// repaired become unknown. The sub-pixel stage uses the parabola through the path sums with kSemiGlobal,
/// otherwise through the costs. Runs on the threads of the surrounding task arena; the same bits for any
/// number of threads. Sources: see the headers of the stages; the order of the stages is that of X. Mei et
/// al. 2011.
/// @param observe  called for "cost", "aggregation", the optimizer ("winner", "sgm", "scanline" or
///                 "graphcut") and the enabled ones of "graphcut", "vote", "interpolate", "edges", "subpixel"
///                 and "median", if given
/// @throws std::logic_error for invalid sizes, range or options, OutOfMemory
DisparityMap pipeline_matching(const PipelineProblem& problem, const PipelineObserver& observe = {});

/// Max bytes that the call uses, including images and result.
std::size_t pipeline_matching_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon

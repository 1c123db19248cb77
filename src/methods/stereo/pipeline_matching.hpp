#pragma once

#include <cstddef>
#include <functional>

#include "methods/stereo/pair.hpp"

namespace recon {

/// A rectified pair and the pipeline that it is matched by.
struct PipelineProblem {
  GreyPair grey;  ///< for kTransform, kSemiGlobal and the graph cut; else it may be empty
  ColourPair colour;
  DisparityRange range;
  PipelineOptions options;
};

/// Takes the left map as it is after a step, with the step's name, for measurements.
using PipelineObserver = std::function<void(const char* step, ImageView<const float> disparity)>;

/// Matches a pair by single stages over a volume of costs: a cost, an aggregation, an optimizer, and the
/// steps of the refinement, in the order of PipelineRefinement. The right view is matched as well, by itself,
/// where left and right are checked. After the optimizer every pixel has a disparity, the lowest one on ties;
/// unknown becomes only what the check finds and nothing repairs. The sub-pixel step takes the parabola
/// through the sums of the paths where kSemiGlobal chose, else that through the costs. Runs on the threads of
/// the surrounding task arena; the same bits for any number of them. Sources: those of the stages, see their
/// headers; the order of the steps is that of X. Mei et al. 2011.
/// @param observe  called for "cost", "aggregation", the optimizer ("winner", "sgm", "scanline" or
///                 "graphcut") and those of "graphcut", "vote", "interpolate", "edges", "subpixel" and
///                 "median" that are part of the pipeline, if given
/// @throws std::logic_error where sizes, range or options are not what they have to be, OutOfMemory
DisparityMap pipeline_matching(const PipelineProblem& problem, const PipelineObserver& observe = {});

/// Bytes that the call takes at most, images and result included.
std::size_t pipeline_matching_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon

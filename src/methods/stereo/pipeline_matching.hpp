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

/// The AD-Census stereo system as a pipeline: AD-Census costs of both views, cross-based aggregation on the
/// intersection of the arms of both views, scanline optimisation, the winners of both views (lowest disparity
/// on ties), then left-right check, region voting, interpolation, discontinuity adjustment, sub-pixel
/// enhancement and a 3 x 3 median. The parameters are those of Mei et al. 2011, table 1, except for two
/// aggregation iterations instead of four: larger supports remove detail, and the scanline optimisation makes
/// them unnecessary (0.14 points of the mean error of Middlebury's four pairs). Differences from the paper,
/// explained at each step: small surfaces are invalidated and others extended into the strip outside the
/// right view (invalidate_small_segments, extend_surfaces), voting and interpolation are checked against the
/// right map (contradicted), and sub-pixel shifts are multiples of 1/16 pixel (enhance_subpixel). With the
/// paper's steps only, the mean error of Middlebury's four pairs, three figures each, is 5.27 % instead of
/// 4.44 %; the paper reports 3.97 %. Every pixel gets a disparity, unless no pixel of the image is reliable
/// or has a winner. Source: X. Mei, X. Sun, M. Zhou, S. Jiao, H. Wang and X. Zhang, On building an accurate
/// stereo matching system on graphics hardware, ICCV workshops 2011.
PipelineOptions ad_census_pipeline();

/// Max bytes that pipeline_matching uses, including images and result.
std::size_t pipeline_matching_bytes(int width, int height, const PairOptions& options, int threads);

}  // namespace recon

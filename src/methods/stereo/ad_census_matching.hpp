#pragma once

#include "methods/stereo/pipeline_matching.hpp"

namespace recon {

/// The parameters of the AD-Census system; the defaults are those of Mei et al. 2011, table 1, except for two
/// aggregation iterations instead of four: larger supports remove detail, and the scanline optimisation makes
/// them unnecessary (0.14 points of the mean error of Middlebury's four pairs).
struct AdCensusMatchingOptions {
  AdCensusOptions cost;
  CrossOptions cross;
  CrossBasedOptions aggregation{2};
  ScanlineOptions scanline;
  VotingOptions voting;
};

/// The AD-Census system as a pipeline.
PipelineOptions ad_census_pipeline(const AdCensusMatchingOptions& options = {});

/// The AD-Census stereo system: AD-Census costs of both views, cross-based aggregation on the intersection of
/// the arms of both views, scanline optimisation, the winners of both views (lowest disparity on ties), then
/// left-right check, region voting, interpolation, discontinuity adjustment, sub-pixel enhancement and a 3 x
/// 3 median. Differences from the paper, explained at each step: small surfaces are invalidated and others
/// extended into the strip outside the right view (invalidate_small_segments, extend_surfaces), voting and
/// interpolation are checked against the right map (contradicted), and sub-pixel shifts are multiples of 1/16
/// pixel (enhance_subpixel). With the paper's steps only, the mean error of Middlebury's four pairs, three
/// figures each, is 5.27 % instead of 4.44 %; the paper reports 3.97 %. Every pixel gets a disparity, unless
/// no pixel of the image is reliable or has a winner. Runs on the threads of the surrounding task arena; the
/// same bits for any number of them. Source: X. Mei, X. Sun, M. Zhou, S. Jiao, H. Wang and X. Zhang, On
/// building an accurate stereo matching system on graphics hardware, ICCV workshops 2011.
/// @param pair     both images have the same size
/// @param range    the disparities searched
/// @param observe  called for "cost", "aggregation", "scanline", "vote", "interpolate", "edges", "subpixel"
///                 and "median", if given
/// @throws std::logic_error for invalid sizes, range or options, OutOfMemory
DisparityMap ad_census_matching(const ColourPair& pair, const DisparityRange& range,
                                const AdCensusMatchingOptions& options = {},
                                const PipelineObserver& observe = {});

}  // namespace recon

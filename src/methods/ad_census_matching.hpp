#pragma once

#include <cstddef>
#include <functional>

#include "aggregate/cross_based.hpp"
#include "match/ad_census.hpp"
#include "match/cross_arms.hpp"
#include "methods/pair.hpp"
#include "optimize/scanline_options.hpp"
#include "refine/outliers.hpp"

namespace recon {

/// The parameters of the AD-Census system; the defaults are those of Mei et al. 2011, table 1.
struct AdCensusMatchingOptions {
  AdCensusOptions cost;
  CrossOptions cross;
  CrossBasedOptions aggregation;
  ScanlineOptions scanline;
  VotingOptions voting;
};

/// Takes the left map as it is after a step of the system, with the step's name, for measurements.
using AdCensusObserver = std::function<void(const char* step, ImageView<const float> disparity)>;

/// The AD-Census stereo system: AD-Census costs of both views, cross-based aggregation on the arms that the
/// views have in common, scanline optimisation, the winners of both views (lowest disparity on ties), then
/// left-right check, region voting, interpolation, discontinuity adjustment, sub-pixel enhancement and the
/// median of 3 x 3. Every pixel gets a disparity, unless no pixel of the image is reliable nor has a winner.
/// Runs on the threads of the surrounding task arena; the same bits for any number of them. Source: X. Mei,
/// X. Sun, M. Zhou, S. Jiao, H. Wang and X. Zhang, On building an accurate stereo matching system on graphics
/// hardware, ICCV workshops 2011.
/// @param pair     both images of one size
/// @param range    the disparities searched
/// @param observe  called for "cost", "aggregation", "scanline", "vote", "interpolate", "edges", "subpixel"
///                 and "median", if given
/// @throws std::logic_error where sizes, range or options are not what they have to be, OutOfMemory
DisparityMap ad_census_matching(const ColourPair& pair, const DisparityRange& range,
                                const AdCensusMatchingOptions& options = {},
                                const AdCensusObserver& observe = {});

}  // namespace recon

#pragma once

#include "methods/chain_matching.hpp"

namespace recon {

/// The parameters of the AD-Census system; the defaults are those of Mei et al. 2011, table 1.
struct AdCensusMatchingOptions {
  AdCensusOptions cost;
  CrossOptions cross;
  CrossBasedOptions aggregation;
  ScanlineOptions scanline;
  VotingOptions voting;
};

/// The system as a chain.
ChainOptions ad_census_chain(const AdCensusMatchingOptions& options = {});

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
                                const ChainObserver& observe = {});

}  // namespace recon

#include "methods/ad_census_matching.hpp"

namespace recon {

ChainOptions ad_census_chain(const AdCensusMatchingOptions& options) {
  ChainOptions chain;
  chain.cost = ChainCost::kAdCensus;
  chain.ad_census = options.cost;
  chain.aggregation.kind = Aggregation::kCrossBased;
  chain.aggregation.cross = options.cross;
  chain.aggregation.cross_based = options.aggregation;
  chain.optimizer = ChainOptimizer::kScanline;
  chain.scanline = options.scanline;
  chain.voting = options.voting;
  ChainRefinement& steps = chain.refinement;
  steps.left_right = steps.vote = steps.interpolate = steps.edges = steps.subpixel = steps.median = true;
  return chain;
}

DisparityMap ad_census_matching(const ColourPair& pair, const DisparityRange& range,
                                const AdCensusMatchingOptions& options, const ChainObserver& observe) {
  return chain_matching({{}, pair, range, ad_census_chain(options)}, observe);
}

}  // namespace recon

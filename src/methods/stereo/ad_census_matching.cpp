#include "methods/stereo/ad_census_matching.hpp"

namespace recon {

PipelineOptions ad_census_pipeline(const AdCensusMatchingOptions& options) {
  PipelineOptions pipeline;
  pipeline.cost = PipelineCost::kAdCensus;
  pipeline.ad_census = options.cost;
  pipeline.aggregation.kind = Aggregation::kCrossBased;
  pipeline.aggregation.cross = options.cross;
  pipeline.aggregation.cross_based = options.aggregation;
  pipeline.optimizer = PipelineOptimizer::kScanline;
  pipeline.scanline = options.scanline;
  pipeline.voting = options.voting;
  PipelineRefinement& steps = pipeline.refinement;
  steps.left_right = steps.vote = steps.interpolate = steps.edges = steps.subpixel = steps.median = true;
  return pipeline;
}

DisparityMap ad_census_matching(const ColourPair& pair, const DisparityRange& range,
                                const AdCensusMatchingOptions& options, const PipelineObserver& observe) {
  return pipeline_matching({{}, pair, range, ad_census_pipeline(options)}, observe);
}

}  // namespace recon

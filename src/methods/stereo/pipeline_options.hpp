#pragma once

#include "aggregate/aggregation.hpp"
#include "match/ad_census_step.hpp"
#include "match/transform_options.hpp"
#include "optimize/graph_cut/graph_cut_options.hpp"
#include "optimize/scanline/scanline_options.hpp"
#include "optimize/semi_global/semi_global_options.hpp"
#include "refine/outliers.hpp"

namespace recon {

/// What a pipeline compares pixels by.
enum class PipelineCost {
  kColourDifference,  ///< mean of |difference| over red, green and blue, up to `colour_cap`
  kAdCensus,          ///< that and a census, each saturated: 0 .. 2
  kTransform,         ///< a rank or a census of the grey levels
};

/// What chooses among the disparities of a pipeline.
enum class PipelineOptimizer {
  kWinnerTakeAll,
  kSemiGlobal,
  kScanline,
  kGraphCut,
};

/// The steps after the optimizer, which run in this order.
struct PipelineRefinement {
  bool graph_cut = false;   ///< lowers the energy from the winners on
  bool left_right = false;  ///< finds outliers; what is not repaired becomes unknown
  bool vote = false;        ///< repairs outliers by their regions; needs left_right
  /// Repairs all others; needs left_right. Before that and the votes, small surfaces become outliers and
  /// others are carried on to the border: see invalidate_small_segments and extend_surfaces.
  bool interpolate = false;
  bool edges = false;
  bool subpixel = false;
  bool median = false;
};

/// A pipeline of single stages over a volume of costs. Penalties are in the unit of the costs: bits, ranks or
/// grey levels.
struct PipelineOptions {
  PipelineCost cost = PipelineCost::kTransform;
  float colour_cap = 20.0f;  ///< grey levels, 2^-60 .. 255
  AdCensusOptions ad_census;
  TransformOptions transform;
  int outside_cost = 8;  ///< of kTransform, where the match lies outside the other view; 0 .. 255
  AggregationOptions aggregation;
  PipelineOptimizer optimizer = PipelineOptimizer::kSemiGlobal;
  /// Works on costs that are rounded to whole ones: those of AD-Census times kAdCensusSteps.
  SemiGlobalOptions semi_global;
  ScanlineOptions scanline;
  GraphCutOptions graph_cut;  ///< of the optimizer, or of the refinement
  PipelineRefinement refinement;
  float left_right = 0.0f;  ///< greatest difference between both views' disparities, pixels
  VotingOptions voting;
};

/// Whether the GPU has all stages of a pipeline: costs of colours, winners or scanlines, and all steps after
/// these but the graph cut.
constexpr bool runs_on_gpu(const PipelineOptions& pipeline) {
  return pipeline.cost != PipelineCost::kTransform &&
         (pipeline.optimizer == PipelineOptimizer::kWinnerTakeAll ||
          pipeline.optimizer == PipelineOptimizer::kScanline) &&
         !pipeline.refinement.graph_cut;
}

/// AD-Census costs in whole steps: hundredths.
inline constexpr int kAdCensusSteps = 100;

}  // namespace recon

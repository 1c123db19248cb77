#pragma once

#include "aggregate/aggregation.hpp"
#include "match/ad_census_step.hpp"
#include "match/transform_step.hpp"
#include "optimize/graph_cut/graph_cut_step.hpp"
#include "optimize/scanline/scanline_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "refine/outliers.hpp"

namespace recon {

/// Cost of a pipeline.
enum class PipelineCost {
  kColourDifference,  ///< mean of |difference| over red, green and blue, truncated at `colour_cap`
  kAdCensus,          ///< colour difference plus census, each saturated: 0 .. 2
  kTransform,         ///< a rank or a census of the grey levels
};

/// Optimizer of a pipeline.
enum class PipelineOptimizer {
  kWinnerTakeAll,
  kSemiGlobal,
  kScanline,
  kGraphCut,
};

/// The refinement stages, in the order in which they run.
struct PipelineRefinement {
  bool graph_cut = false;   ///< minimises the energy, starting from the winners
  bool left_right = false;  ///< finds outliers; outliers that are not repaired become unknown
  bool vote = false;        ///< repairs outliers by region voting; needs left_right
  /// Repairs all other outliers; needs left_right. Before voting and interpolation, small surfaces become
  /// outliers and others are extended to the border: see invalidate_small_segments and extend_surfaces.
  bool interpolate = false;
  bool edges = false;
  bool subpixel = false;
  bool median = false;
};

/// A pipeline of separate stages over a cost volume. Penalties are in the unit of the costs: bits, ranks or
/// grey levels.
struct PipelineOptions {
  PipelineCost cost = PipelineCost::kTransform;
  float colour_cap = 20.0f;  ///< grey levels, 2^-60 .. 255
  AdCensusOptions ad_census;
  TransformOptions transform;
  int outside_cost = 8;  ///< for kTransform: cost where the match lies outside the other view; 0 .. 255
  AggregationOptions aggregation;
  PipelineOptimizer optimizer = PipelineOptimizer::kSemiGlobal;
  /// Costs are rounded to integers; AD-Census costs are scaled by kAdCensusSteps.
  SemiGlobalOptions semi_global;
  ScanlineOptions scanline;
  GraphCutOptions graph_cut;  ///< for the optimizer or the refinement
  PipelineRefinement refinement;
  float left_right = 0.0f;  ///< max difference between both views' disparities, pixels
  VotingOptions voting;
};

/// Whether a stage of a pipeline is a graph cut, which the CPU computes.
constexpr bool has_graph_cut(const PipelineOptions& pipeline) {
  return pipeline.optimizer == PipelineOptimizer::kGraphCut || pipeline.refinement.graph_cut;
}

/// Steps per unit of quantized AD-Census costs.
inline constexpr int kAdCensusSteps = 100;

}  // namespace recon

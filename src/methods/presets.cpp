#include "methods/presets.hpp"

#include <algorithm>
#include <cmath>

namespace recon::presets {

MethodSpec plane_sweep() {
  MethodSpec spec;
  spec.optimizer = Optimizer::kSemiGlobal;
  return spec;
}

MethodSpec semi_global() {
  MethodSpec spec = plain_pipeline();
  spec.judge = WinnerJudge::kSums;
  spec.cost.transform.transform = Transform::kScaledCensus;
  spec.refine.left_right = spec.refine.subpixel = spec.refine.median = spec.refine.smooth_disparities = true;
  spec.left_right = 1.0f;
  spec.uniqueness = 5;
  return spec;
}

MethodSpec block_matching() {
  MethodSpec spec = plain_pipeline();
  spec.cost.kind = CostKind::kBlockDifference;
  spec.aggregation.kind = Aggregation::kConstantWindow;
  spec.optimizer = Optimizer::kWinnerTakeAll;
  return spec;
}

MethodSpec belief_propagation() {
  MethodSpec spec = plain_pipeline();
  spec.cost.kind = CostKind::kTruncatedDifference;
  spec.optimizer = Optimizer::kBelief;
  return spec;
}

MethodSpec plain_pipeline() {
  MethodSpec spec;
  spec.cost.kind = CostKind::kTransform;
  spec.optimizer = Optimizer::kSemiGlobal;
  spec.semi_global = SemiGlobalOptions{};
  return spec;
}

MethodSpec pipeline() {
  MethodSpec spec = ad_census();
  const MethodSpec plain = plain_pipeline();
  spec.cost.kind = plain.cost.kind;
  spec.aggregation.kind = plain.aggregation.kind;
  spec.optimizer = plain.optimizer;
  spec.refine = plain.refine;
  spec.refine.left_right = spec.refine.subpixel = spec.refine.median = true;
  set_default_penalties(spec);
  return spec;
}

MethodSpec ad_census() {
  MethodSpec spec = plain_pipeline();
  spec.cost.kind = CostKind::kAdCensus;
  spec.aggregation.kind = Aggregation::kCrossBased;
  spec.aggregation.cross_based.iterations = 2;
  spec.optimizer = Optimizer::kScanline;
  Refinement& steps = spec.refine;
  steps.left_right = steps.vote = steps.interpolate = steps.label_edges = steps.subpixel = steps.median =
      true;
  return spec;
}

MethodSpec named_ad_census() {
  MethodSpec spec = ad_census();
  set_default_penalties(spec);
  return spec;
}

void set_default_penalties(MethodSpec& pipeline) {
  // As shares of the max cost. Those of semi-global paths and of the graph cut were the best of a few on
  // the colour pairs of Middlebury's evaluation of 2007, after cross-based means.
  const int limit = whole_cost_limit(pipeline.cost);
  const float steps = whole_cost_steps(pipeline.cost);
  pipeline.semi_global.p1 = limit / 4;
  pipeline.semi_global.p2 = limit * 5 / 3;
  // As the system of AD-Census has them, whose costs go up to 2; in whole steps, as options name them.
  const ScanlineOptions system;
  pipeline.scanline.p1 = std::round(system.p1 * static_cast<float>(limit) / 2) / steps;
  pipeline.scanline.p2 = std::round(system.p2 * static_cast<float>(limit) / 2) / steps;
  pipeline.graph_cut.smoothness = static_cast<float>(std::max(1, limit / 6)) / steps;
}

}  // namespace recon::presets

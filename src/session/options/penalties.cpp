#include "session/options/penalties.hpp"

#include <algorithm>
#include <cmath>

#include "methods/stereo/ad_census_matching.hpp"
#include "methods/stereo/pipeline_costs.hpp"

namespace recon {

namespace {

/// Whether the graph cut is what has penalties.
bool cuts_only(const PipelineOptions& pipeline) {
  return pipeline.optimizer == PipelineOptimizer::kGraphCut ||
         (pipeline.optimizer == PipelineOptimizer::kWinnerTakeAll && pipeline.refinement.graph_cut);
}

bool cuts_only(const SessionOptions& sweep) {
  return sweep.optimizer == SweepOptimizer::kGraphCut ||
         (sweep.optimizer == SweepOptimizer::kWinnerTakeAll && sweep.sweep_stages.graph_cut);
}

/// Whole steps of the cost in one unit of it.
float steps_of(const PipelineOptions& pipeline) {
  return pipeline.cost == PipelineCost::kAdCensus ? static_cast<float>(kAdCensusSteps) : 1.0f;
}

int whole(float value, const PipelineOptions& pipeline) {
  return static_cast<int>(std::lround(value * steps_of(pipeline)));
}

Penalties penalties_of(const SemiGlobalOptions& paths) {
  return {paths.p1, paths.p2, paths.p2_falloff};
}

Penalties penalties_of(const PipelineOptions& pipeline) {
  if (cuts_only(pipeline)) {
    const GraphCutOptions& cut = pipeline.graph_cut;
    const int p1 = whole(cut.smoothness, pipeline);
    return {p1, p1 * cut.smoothness_cap, cut.edge_falloff};
  }
  if (pipeline.optimizer == PipelineOptimizer::kScanline)
    return {whole(pipeline.scanline.p1, pipeline), whole(pipeline.scanline.p2, pipeline), 0};
  if (pipeline.optimizer == PipelineOptimizer::kSemiGlobal) return penalties_of(pipeline.semi_global);
  return {};
}

Penalties sweep_penalties(const SessionOptions& options) {
  if (options.optimizer == SweepOptimizer::kSemiGlobal) return penalties_of(options.sweep_paths.penalties);
  if (!cuts_only(options)) return {};
  const GraphCutOptions& cut = options.sweep_stages.cut;
  const int p1 = static_cast<int>(cut.smoothness);
  return {p1, p1 * cut.smoothness_cap, cut.edge_falloff};
}

/// min(p1 |difference|, p2) as the graph cut has it: a slope, and the step from which it rises no more; below
/// 1 where p2 < p1, which SessionOptions::check refuses.
int cap_of(int p1, int p2) {
  return p1 > 0 ? p2 / p1 : 1;
}

void set_penalties(PipelineOptions& pipeline, const Penalties& penalties) {
  if (cuts_only(pipeline)) {
    pipeline.graph_cut.smoothness = static_cast<float>(penalties.p1) / steps_of(pipeline);
    pipeline.graph_cut.smoothness_cap = cap_of(penalties.p1, penalties.p2);
    pipeline.graph_cut.edge_falloff = penalties.falloff;
  } else if (pipeline.optimizer == PipelineOptimizer::kScanline) {
    pipeline.scanline.p1 = static_cast<float>(penalties.p1) / steps_of(pipeline);
    pipeline.scanline.p2 = static_cast<float>(penalties.p2) / steps_of(pipeline);
  } else if (pipeline.optimizer == PipelineOptimizer::kSemiGlobal) {
    pipeline.semi_global.p1 = penalties.p1, pipeline.semi_global.p2 = penalties.p2;
    pipeline.semi_global.p2_falloff = penalties.falloff;
  }
}

}  // namespace

Penalties penalties_of(const SessionOptions& options, Job job) {
  switch (job.method) {
    case Method::kPlaneSweep:
      return sweep_penalties(options);
    case Method::kSemiGlobal:
      return penalties_of(options.pair.matching.semi_global.optimizer);
    case Method::kPipeline:
      return penalties_of(options.pair.matching.pipeline);
    default:
      return {};
  }
}

void set_p1(SessionOptions& options, int p1) {
  // The graph cut of a sweep keeps its ratio of the penalties.
  if (cuts_only(options))
    options.sweep_stages.cut.smoothness = static_cast<float>(p1);
  else
    options.sweep_paths.penalties.p1 = p1;
  options.pair.matching.semi_global.optimizer.p1 = p1;
}

void set_p2(SessionOptions& options, int p2) {
  if (cuts_only(options))
    options.sweep_stages.cut.smoothness_cap = cap_of(sweep_penalties(options).p1, p2);
  else
    options.sweep_paths.penalties.p2 = p2;
  options.pair.matching.semi_global.optimizer.p2 = p2;
}

void set_p2_falloff(SessionOptions& options, int falloff) {
  if (cuts_only(options))
    options.sweep_stages.cut.edge_falloff = falloff;
  else
    options.sweep_paths.penalties.p2_falloff = falloff;
  options.pair.matching.semi_global.optimizer.p2_falloff = falloff;
}

void set_penalty(PipelineOptions& pipeline, int Penalties::*member, int value) {
  Penalties penalties = penalties_of(pipeline);
  penalties.*member = value;
  set_penalties(pipeline, penalties);
}

std::string idle_penalty(const SessionOptions& options, Job job) {
  const PipelineOptions& pipeline = options.pair.matching.pipeline;
  if (job.method == Method::kPlaneSweep && options.optimizer != SweepOptimizer::kSemiGlobal &&
      !cuts_only(options))
    return "has a meaning with --optimizer sgm or graphcut only";
  if (job.method == Method::kPipeline && pipeline.optimizer == PipelineOptimizer::kWinnerTakeAll &&
      !pipeline.refinement.graph_cut)
    return "has a meaning where steps are penalised: with --optimizer sgm, scanline or graphcut";
  return {};
}

std::string idle_falloff(const SessionOptions& options, Job job) {
  if (idle_penalty(options, job).empty() &&
      (job.method != Method::kPipeline ||
       options.pair.matching.pipeline.optimizer != PipelineOptimizer::kScanline))
    return {};
  return "has a meaning with --optimizer sgm or graphcut only";
}

void set_default_penalties(PipelineOptions& pipeline) {
  // As shares of the greatest cost. Those of semi-global paths and of the graph cut were the best of a few on
  // the colour pairs of Middlebury's evaluation of 2007, after cross-based means.
  const int greatest = whole_cost_limit(pipeline);
  pipeline.semi_global.p1 = greatest / 4;
  pipeline.semi_global.p2 = greatest * 5 / 3;
  // As the system of AD-Census has them, whose costs go up to 2; in whole steps, as options name them.
  const ScanlineOptions system = ad_census_pipeline().scanline;
  pipeline.scanline.p1 = std::round(system.p1 * static_cast<float>(greatest) / 2) / steps_of(pipeline);
  pipeline.scanline.p2 = std::round(system.p2 * static_cast<float>(greatest) / 2) / steps_of(pipeline);
  pipeline.graph_cut.smoothness = static_cast<float>(std::max(1, greatest / 6)) / steps_of(pipeline);
}

}  // namespace recon

#include "session/options/pipeline_settings.hpp"

#include <algorithm>
#include <cmath>

#include "methods/stereo/pair.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

struct Step {
  const char* word;
  bool RefinementSteps::*flag;
};

/// In the order in which they run.
constexpr Step kSteps[] = {{"graphcut", &PipelineRefinement::graph_cut},
                           {"lr", &PipelineRefinement::left_right},
                           {"vote", &PipelineRefinement::vote},
                           {"interpolate", &PipelineRefinement::interpolate},
                           {"edges", &PipelineRefinement::edges},
                           {"subpixel", &PipelineRefinement::subpixel},
                           {"median", &PipelineRefinement::median},
                           {"patches", &RefinementSteps::patches},
                           {"prior", &RefinementSteps::prior}};

void add_step(RefinementSteps& refinement, const std::string& word) {
  std::vector<std::string> words;
  for (const Step& step : kSteps) {
    if (word == step.word) refinement.*step.flag = true;
    if (word == step.word) return;
    words.emplace_back(step.word);
  }
  throw UsageError("it must be none, or a list of " + list_of(words) + ", with commas between them");
}

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

int whole(float penalty, float steps) {
  return static_cast<int>(std::lround(penalty * steps));
}

Penalties penalties_of(const SemiGlobalOptions& paths) {
  return {paths.p1, paths.p2, paths.p2_falloff};
}

void set(SemiGlobalOptions& paths, const Penalties& to) {
  paths.p1 = to.p1, paths.p2 = to.p2, paths.p2_falloff = to.falloff;
}

/// min(p1 |difference|, p2) as the graph cut has it: a slope, and the step from which it rises no more; that
/// is below 1 where p2 < p1, which SessionOptions::check refuses.
Penalties penalties_of(const GraphCutOptions& cut, float steps) {
  const int p1 = whole(cut.smoothness, steps);
  return {p1, p1 * cut.smoothness_cap, cut.edge_falloff};
}

void set(GraphCutOptions& cut, const Penalties& to, float steps) {
  cut.smoothness = static_cast<float>(to.p1) / steps;
  cut.smoothness_cap = to.p1 > 0 ? to.p2 / to.p1 : 1;
  cut.edge_falloff = to.falloff;
}

Penalties sweep_penalties(const SessionOptions& sweep) {
  if (sweep.optimizer == SweepOptimizer::kSemiGlobal) return penalties_of(sweep.sweep_paths.penalties);
  return cuts_only(sweep) ? penalties_of(sweep.sweep_stages.cut, 1) : Penalties();
}

void set_sweep(SessionOptions& sweep, const Penalties& to) {
  if (sweep.optimizer == SweepOptimizer::kSemiGlobal) set(sweep.sweep_paths.penalties, to);
  if (cuts_only(sweep)) set(sweep.sweep_stages.cut, to, 1);
}

Penalties penalties_of(const PipelineOptions& pipeline) {
  const float steps = steps_of(pipeline);
  if (cuts_only(pipeline)) return penalties_of(pipeline.graph_cut, steps);
  if (pipeline.optimizer == PipelineOptimizer::kScanline)
    return {whole(pipeline.scanline.p1, steps), whole(pipeline.scanline.p2, steps), 0};
  if (pipeline.optimizer == PipelineOptimizer::kSemiGlobal) return penalties_of(pipeline.semi_global);
  return {};
}

void set(PipelineOptions& pipeline, const Penalties& to) {
  const float steps = steps_of(pipeline);
  if (cuts_only(pipeline)) set(pipeline.graph_cut, to, steps);
  if (pipeline.optimizer == PipelineOptimizer::kSemiGlobal) set(pipeline.semi_global, to);
  if (pipeline.optimizer != PipelineOptimizer::kScanline) return;
  pipeline.scanline.p1 = static_cast<float>(to.p1) / steps;
  pipeline.scanline.p2 = static_cast<float>(to.p2) / steps;
}

}  // namespace

PipelineOptions default_pipeline() {
  // What no option names is as in the system of AD-Census, so that naming its stages makes the same pipeline.
  PipelineOptions pipeline = ad_census_pipeline();
  const PipelineOptions plain;
  pipeline.cost = plain.cost;
  pipeline.aggregation.kind = plain.aggregation.kind;
  pipeline.optimizer = plain.optimizer;
  pipeline.refinement = plain.refinement;
  PipelineRefinement& steps = pipeline.refinement;
  steps.left_right = steps.subpixel = steps.median = true;
  set_default_penalties(pipeline);
  return pipeline;
}

PipelineOptions ad_census_preset() {
  PipelineOptions pipeline = ad_census_pipeline();
  set_default_penalties(pipeline);
  return pipeline;
}

RefinementSteps parse_refinement(const std::string& list) {
  RefinementSteps refinement;
  if (list == "none") return refinement;
  std::string::size_type begin = 0;
  while (begin <= list.size()) {
    const auto end = std::min(list.find(',', begin), list.size());
    add_step(refinement, list.substr(begin, end - begin));
    begin = end + 1;
  }
  if (refinement.left_right || !(refinement.vote || refinement.interpolate)) return refinement;
  throw UsageError(std::string(refinement.vote ? "vote" : "interpolate") +
                   " repairs what the check of both views finds: name lr too");
}

std::string format_refinement(const RefinementSteps& refinement) {
  std::string list;
  for (const Step& step : kSteps)
    if (refinement.*step.flag) list += std::string(list.empty() ? "" : ",") + step.word;
  return list.empty() ? "none" : list;
}

std::string pipeline_cost_keyword(const PipelineOptions& pipeline) {
  return pipeline.cost == PipelineCost::kTransform ? word_of(pipeline.transform.transform, kTransforms)
                                                   : word_of(pipeline.cost, kColourCosts);
}

void set_pipeline_cost(PipelineOptions& pipeline, const std::string& word) {
  if (const auto colour = kColourCosts.find(word); colour != kColourCosts.end())
    pipeline.cost = colour->second;
  if (const auto transform = kTransforms.find(word); transform != kTransforms.end()) {
    pipeline.cost = PipelineCost::kTransform;
    pipeline.transform.transform = transform->second;
  }
  set_default_penalties(pipeline);
}

int pipeline_window(const PipelineOptions& pipeline) {
  const AggregationOptions& by = pipeline.aggregation;
  const int radius = by.kind == Aggregation::kAdaptiveWeight ? by.adaptive_weight.radius : by.constant_radius;
  return 2 * radius + 1;
}

Penalties penalties_of(const SessionOptions& options, Job job) {
  if (job.method == Method::kPlaneSweep) return sweep_penalties(options);
  if (job.method == Method::kSemiGlobal) return penalties_of(options.pair.matching.semi_global.optimizer);
  return job.method == Method::kPipeline ? penalties_of(options.pair.matching.pipeline) : Penalties();
}

void set_penalty(SessionOptions& options, int Penalties::*member, int value) {
  Penalties sweep = sweep_penalties(options);
  // Graph cuts keep their ratio of the penalties.
  if (cuts_only(options) && member == &Penalties::p1)
    sweep.p2 = value * options.sweep_stages.cut.smoothness_cap;
  sweep.*member = value;
  set_sweep(options, sweep);
  PairOptions& pair = options.pair.matching;
  Penalties sgm = penalties_of(pair.semi_global.optimizer), pipeline = penalties_of(pair.pipeline);
  if (cuts_only(pair.pipeline) && member == &Penalties::p1)
    pipeline.p2 = value * pair.pipeline.graph_cut.smoothness_cap;
  sgm.*member = pipeline.*member = value;
  set(pair.semi_global.optimizer, sgm);
  set(pair.pipeline, pipeline);
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
  // As shares of the max cost. Those of semi-global paths and of the graph cut were the best of a few on
  // the colour pairs of Middlebury's evaluation of 2007, after cross-based means.
  const int limit = whole_cost_limit(pipeline);
  pipeline.semi_global.p1 = limit / 4;
  pipeline.semi_global.p2 = limit * 5 / 3;
  // As the system of AD-Census has them, whose costs go up to 2; in whole steps, as options name them.
  const ScanlineOptions system = ad_census_pipeline().scanline;
  pipeline.scanline.p1 = std::round(system.p1 * static_cast<float>(limit) / 2) / steps_of(pipeline);
  pipeline.scanline.p2 = std::round(system.p2 * static_cast<float>(limit) / 2) / steps_of(pipeline);
  pipeline.graph_cut.smoothness = static_cast<float>(std::max(1, limit / 6)) / steps_of(pipeline);
}

}  // namespace recon

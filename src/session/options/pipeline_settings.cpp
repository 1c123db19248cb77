#include "session/options/pipeline_settings.hpp"

#include <algorithm>
#include <cmath>

#include "methods/stereo/pair.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

struct RefinementStep {
  const char* word;
  bool RefinementSteps::*flag;
};

/// In the order in which they run.
constexpr RefinementStep kSteps[] = {{"graphcut", &PipelineRefinement::graph_cut},
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
  for (const RefinementStep& step : kSteps) {
    if (word == step.word) refinement.*step.flag = true;
    if (word == step.word) return;
    words.emplace_back(step.word);
  }
  throw UsageError("it must be none, or a list of " + list_of(words) + ", with commas between them");
}

/// Whether the graph cut is what has penalties.
template <class Optimizer>
bool cuts_only(Optimizer optimizer, bool graph_cut) {
  return optimizer == Optimizer::kGraphCut || (optimizer == Optimizer::kWinnerTakeAll && graph_cut);
}

int whole(float penalty, float steps) {
  return static_cast<int>(std::lround(penalty * steps));
}

Penalties penalties_in(const SemiGlobalOptions& paths, float) {
  return {paths.p1, paths.p2, paths.p2_falloff};
}

void set(SemiGlobalOptions& paths, const Penalties& to, float) {
  paths.p1 = to.p1, paths.p2 = to.p2, paths.p2_falloff = to.falloff;
}

Penalties penalties_in(const ScanlineOptions& scanline, float steps) {
  return {whole(scanline.p1, steps), whole(scanline.p2, steps), 0};
}

void set(ScanlineOptions& scanline, const Penalties& to, float steps) {
  scanline.p1 = static_cast<float>(to.p1) / steps;
  scanline.p2 = static_cast<float>(to.p2) / steps;
}

/// min(p1 |difference|, p2) as the graph cut has it: a slope, and the step from which it rises no more; that
/// is below 1 where p2 < p1, which SessionOptions::check refuses.
Penalties penalties_in(const GraphCutOptions& cut, float steps) {
  const int p1 = whole(cut.smoothness, steps);
  return {p1, p1 * cut.smoothness_cap, cut.edge_falloff};
}

void set(GraphCutOptions& cut, const Penalties& to, float steps) {
  cut.smoothness = static_cast<float>(to.p1) / steps;
  cut.smoothness_cap = to.p1 > 0 ? to.p2 / to.p1 : 1;
  cut.edge_falloff = to.falloff;
}

/// Calls `visit(options, steps)` with the options that hold the penalties of a job, if it has any.
/// @param options  const SessionOptions, or to be changed
template <class Options, class Visit>
void visit_penalties(Options& options, Method method, const Visit& visit) {
  if (method == Method::kPlaneSweep) {
    if (options.optimizer == SweepOptimizer::kSemiGlobal) visit(options.sweep_paths.penalties, 1.0f);
    if (cuts_only(options.optimizer, options.sweep_stages.graph_cut)) visit(options.sweep_stages.cut, 1.0f);
  }
  if (method == Method::kSemiGlobal) visit(options.pair.matching.semi_global.optimizer, 1.0f);
  if (method != Method::kPipeline) return;
  auto& pipeline = options.pair.matching.pipeline;
  const float steps = whole_cost_steps(pipeline);
  if (pipeline.optimizer == PipelineOptimizer::kSemiGlobal) visit(pipeline.semi_global, steps);
  if (pipeline.optimizer == PipelineOptimizer::kScanline) visit(pipeline.scanline, steps);
  if (cuts_only(pipeline.optimizer, pipeline.refinement.graph_cut)) visit(pipeline.graph_cut, steps);
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
  for (const std::string& word : split_list(list)) add_step(refinement, word);
  if (refinement.left_right || !(refinement.vote || refinement.interpolate)) return refinement;
  throw UsageError(std::string(refinement.vote ? "vote" : "interpolate") +
                   " repairs what the check of both views finds: name lr too");
}

std::string format_refinement(const RefinementSteps& refinement) {
  std::string list;
  for (const RefinementStep& step : kSteps)
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
  Penalties penalties;
  visit_penalties(options, job.method,
                  [&](const auto& holder, float steps) { penalties = penalties_in(holder, steps); });
  return penalties;
}

void set_penalty(SessionOptions& options, int Penalties::*member, int value) {
  const auto set_in = [&](auto& holder, float steps) {
    Penalties penalties = penalties_in(holder, steps);
    if constexpr (requires { holder.smoothness_cap; })  // graph cuts keep their ratio of the penalties
      if (member == &Penalties::p1) penalties.p2 = value * holder.smoothness_cap;
    penalties.*member = value;
    set(holder, penalties, steps);
  };
  for (const Method method : kMethods) visit_penalties(options, method, set_in);
}

bool penalises_steps(const SessionOptions& options, Job job) {
  bool any = false;
  visit_penalties(options, job.method, [&](const auto&, float) { any = true; });
  return any;
}

void set_default_penalties(PipelineOptions& pipeline) {
  // As shares of the max cost. Those of semi-global paths and of the graph cut were the best of a few on
  // the colour pairs of Middlebury's evaluation of 2007, after cross-based means.
  const int limit = whole_cost_limit(pipeline);
  pipeline.semi_global.p1 = limit / 4;
  pipeline.semi_global.p2 = limit * 5 / 3;
  // As the system of AD-Census has them, whose costs go up to 2; in whole steps, as options name them.
  const ScanlineOptions system = ad_census_pipeline().scanline;
  pipeline.scanline.p1 = std::round(system.p1 * static_cast<float>(limit) / 2) / whole_cost_steps(pipeline);
  pipeline.scanline.p2 = std::round(system.p2 * static_cast<float>(limit) / 2) / whole_cost_steps(pipeline);
  pipeline.graph_cut.smoothness = static_cast<float>(std::max(1, limit / 6)) / whole_cost_steps(pipeline);
}

}  // namespace recon

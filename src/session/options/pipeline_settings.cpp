#include "session/options/pipeline_settings.hpp"

#include <algorithm>
#include <cmath>

#include "methods/stereo/ad_census_matching.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "session/options/cost_keywords.hpp"
#include "session/options/option_check.hpp"
#include "session/options/pair_settings.hpp"

namespace recon {

namespace {

struct Step {
  const char* word;
  bool PipelineRefinement::*flag;
};

/// In the order in which they run.
constexpr Step kSteps[] = {
    {"graphcut", &PipelineRefinement::graph_cut}, {"lr", &PipelineRefinement::left_right},
    {"vote", &PipelineRefinement::vote},          {"interpolate", &PipelineRefinement::interpolate},
    {"edges", &PipelineRefinement::edges},        {"subpixel", &PipelineRefinement::subpixel},
    {"median", &PipelineRefinement::median}};

void add_step(PipelineRefinement& refinement, const std::string& word) {
  for (const Step& step : kSteps)
    if (word == step.word) {
      refinement.*step.flag = true;
      return;
    }
  std::string words;
  for (const Step& step : kSteps) words += std::string(words.empty() ? "" : ", ") + step.word;
  throw UsageError("--refine names '" + word + "'; it can be none, or a list of " + words);
}

/// Whole steps of the cost in one unit of it.
float steps_of(const PipelineOptions& pipeline) {
  return pipeline.cost == PipelineCost::kAdCensus ? static_cast<float>(kAdCensusSteps) : 1.0f;
}

/// Whether the graph cut is what has penalties.
bool cuts_only(const PipelineOptions& pipeline) {
  return pipeline.optimizer == PipelineOptimizer::kGraphCut ||
         (pipeline.optimizer == PipelineOptimizer::kWinnerTakeAll && pipeline.refinement.graph_cut);
}

bool penalises(const PipelineOptions& pipeline) {
  return pipeline.optimizer != PipelineOptimizer::kWinnerTakeAll || pipeline.refinement.graph_cut;
}

/// The defaults as shares of the greatest cost. Those of semi-global paths and of the graph cut were the best
/// of a few on the colour pairs of Middlebury's evaluation of 2007, after cross-based means.
void set_default_penalties(PipelineOptions& pipeline) {
  const int greatest = whole_cost_limit(pipeline);
  pipeline.semi_global.p1 = greatest / 4;
  pipeline.semi_global.p2 = greatest * 5 / 3;
  // As the system of AD-Census has them, whose costs go up to 2; in whole steps, as options name them.
  const ScanlineOptions system = ad_census_pipeline().scanline;
  pipeline.scanline.p1 = std::round(system.p1 * static_cast<float>(greatest) / 2) / steps_of(pipeline);
  pipeline.scanline.p2 = std::round(system.p2 * static_cast<float>(greatest) / 2) / steps_of(pipeline);
  pipeline.graph_cut.smoothness = static_cast<float>(std::max(1, greatest / 6)) / steps_of(pipeline);
}

/// min(p1 |difference|, p2) as the graph cut has it: a slope, and the step from which it rises no more; below
/// 1 where p2 < p1, which check_pipeline refuses.
void set_cut(PipelineOptions& pipeline, int p1, int p2) {
  pipeline.graph_cut.smoothness = static_cast<float>(p1) / steps_of(pipeline);
  pipeline.graph_cut.smoothness_cap = p1 > 0 ? p2 / p1 : 1;
}

int whole(float value, const PipelineOptions& pipeline) {
  return static_cast<int>(std::lround(value * steps_of(pipeline)));
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
  return pipeline;
}

PipelineOptions preset_pipeline(const std::string& name) {
  if (name == "ad-census") return ad_census_pipeline();
  throw UsageError("--preset is '" + name + "'; it can be ad-census");
}

PipelineRefinement parse_refinement(const std::string& list) {
  PipelineRefinement refinement;
  if (list == "none") return refinement;
  std::string::size_type begin = 0;
  while (begin <= list.size()) {
    const auto end = std::min(list.find(',', begin), list.size());
    add_step(refinement, list.substr(begin, end - begin));
    begin = end + 1;
  }
  if (refinement.left_right) return refinement;
  for (const char* word : {"vote", "interpolate"})
    for (const Step& step : kSteps)
      if (step.word == std::string(word) && refinement.*step.flag)
        throw UsageError("--refine is '" + list + "'; " + word +
                         " repairs what the check of both views finds: name lr too");
  return refinement;
}

std::string format_refinement(const PipelineRefinement& refinement) {
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
}

int pipeline_window(const PipelineOptions& pipeline) {
  const AggregationOptions& by = pipeline.aggregation;
  const int radius = by.kind == Aggregation::kAdaptiveWeight ? by.adaptive_weight.radius : by.constant_radius;
  return 2 * radius + 1;
}

PipelinePenalties pipeline_penalties(const PipelineOptions& pipeline) {
  if (cuts_only(pipeline)) {
    const GraphCutOptions& cut = pipeline.graph_cut;
    const int p1 = whole(cut.smoothness, pipeline);
    return {p1, p1 * cut.smoothness_cap, cut.edge_falloff};
  }
  if (pipeline.optimizer == PipelineOptimizer::kScanline)
    return {whole(pipeline.scanline.p1, pipeline), whole(pipeline.scanline.p2, pipeline), 0};
  if (pipeline.optimizer == PipelineOptimizer::kSemiGlobal)
    return {pipeline.semi_global.p1, pipeline.semi_global.p2, pipeline.semi_global.p2_falloff};
  return {};
}

void set_pipeline_penalties(PipelineOptions& pipeline, std::optional<int> p1, std::optional<int> p2,
                            std::optional<int> falloff) {
  set_default_penalties(pipeline);
  const PipelinePenalties defaults = pipeline_penalties(pipeline);
  const int small = p1.value_or(defaults.p1), large = p2.value_or(defaults.p2);
  if (cuts_only(pipeline)) {
    if (p1 || p2) set_cut(pipeline, small, large);
    pipeline.graph_cut.edge_falloff = falloff.value_or(defaults.falloff);
  } else if (pipeline.optimizer == PipelineOptimizer::kScanline) {
    if (p1) pipeline.scanline.p1 = static_cast<float>(small) / steps_of(pipeline);
    if (p2) pipeline.scanline.p2 = static_cast<float>(large) / steps_of(pipeline);
  } else if (pipeline.optimizer == PipelineOptimizer::kSemiGlobal) {
    pipeline.semi_global.p1 = small, pipeline.semi_global.p2 = large;
    pipeline.semi_global.p2_falloff = falloff.value_or(defaults.falloff);
  }
}

void check_supports(const AggregationOptions& aggregation) {
  const AdaptiveWeightOptions& weights = aggregation.adaptive_weight;
  expect_range("--aw-colour", weights.gamma_colour, 0.1f, 1000.0f);
  expect_range("--aw-space", weights.gamma_space, 0.1f, 1000.0f);
  expect_range("--arm-length", aggregation.cross.reach - 1, 0, 255);
  expect_range("--arm-colour", aggregation.cross.colour, 0, 256);
  expect_range("--cross-iterations", aggregation.cross_based.iterations, 0, 64);
}

std::string idle_support(Aggregation kind, bool votes, const std::string& option) {
  if ((option == "--aw-colour" || option == "--aw-space") && kind != Aggregation::kAdaptiveWeight)
    return "has a meaning with --aggregation aw only";
  if (option == "--cross-iterations" && kind != Aggregation::kCrossBased)
    return "has a meaning with --aggregation cross only";
  if ((option == "--arm-length" || option == "--arm-colour") && kind != Aggregation::kCrossBased && !votes)
    return "has a meaning with --aggregation cross, or --refine vote, only";
  return {};
}

void check_pipeline(const PipelineOptions& pipeline) {
  check_supports(pipeline.aggregation);
  const Aggregation kind = pipeline.aggregation.kind;
  if (kind == Aggregation::kConstantWindow) expect_range("--window", pipeline_window(pipeline), 1, 255);
  if (kind == Aggregation::kAdaptiveWeight)
    expect_range("--window", pipeline_window(pipeline), 1, 2 * kMaxAdaptiveRadius + 1);
  expect_odd("--rank-window", pipeline.transform.rank_window, 3, kMaxRankWindow);
  expect_range("--left-right", pipeline.left_right, 0.0f, 4096.0f);
  if (!penalises(pipeline)) return;
  const PipelinePenalties penalties = pipeline_penalties(pipeline);
  SemiGlobalOptions all = pipeline.semi_global;
  all.p1 = penalties.p1, all.p2 = penalties.p2, all.p2_falloff = penalties.falloff;
  check_paths(all, 255);
}

std::string idle_in_pipeline(const PipelineOptions& pipeline, const std::string& option) {
  const Aggregation kind = pipeline.aggregation.kind;
  const std::string idle = idle_support(kind, pipeline.refinement.vote, option);
  if (!idle.empty()) return idle;
  if (option == "--window" && kind != Aggregation::kConstantWindow && kind != Aggregation::kAdaptiveWeight)
    return "has a meaning with --aggregation cw or aw only";
  if (option == "--paths" && pipeline.optimizer != PipelineOptimizer::kSemiGlobal)
    return "has a meaning with --optimizer sgm only";
  if ((option == "--p1" || option == "--p2") && !penalises(pipeline))
    return "has a meaning where steps are penalised: with --optimizer sgm, scanline or graphcut";
  if (option == "--p2-falloff" &&
      (!penalises(pipeline) || pipeline.optimizer == PipelineOptimizer::kScanline))
    return "has a meaning with --optimizer sgm or graphcut only";
  if (option == "--rank-window" &&
      (pipeline.cost != PipelineCost::kTransform || pipeline.transform.transform != Transform::kRank))
    return "has a meaning with --cost rank only";
  if (option == "--left-right" && !pipeline.refinement.left_right)
    return "has a meaning with --refine lr only";
  return {};
}

}  // namespace recon

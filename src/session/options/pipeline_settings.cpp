#include "session/options/pipeline_settings.hpp"

#include <algorithm>

#include "methods/stereo/pair.hpp"
#include "session/options/option.hpp"
#include "session/options/penalties.hpp"

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
  std::vector<std::string> words;
  for (const Step& step : kSteps) {
    if (word == step.word) refinement.*step.flag = true;
    if (word == step.word) return;
    words.emplace_back(step.word);
  }
  throw UsageError("it must be none, or a list of " + list_of(words) + ", with commas between them");
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

PipelineRefinement parse_refinement(const std::string& list) {
  PipelineRefinement refinement;
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
  set_default_penalties(pipeline);
}

int pipeline_window(const PipelineOptions& pipeline) {
  const AggregationOptions& by = pipeline.aggregation;
  const int radius = by.kind == Aggregation::kAdaptiveWeight ? by.adaptive_weight.radius : by.constant_radius;
  return 2 * radius + 1;
}

}  // namespace recon

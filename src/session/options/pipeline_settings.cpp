#include "session/options/pipeline_settings.hpp"

#include <algorithm>
#include <cmath>

#include "methods/presets.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

struct RefinementStep {
  const char* word;
  bool Refinement::*flag;
};

/// In the order in which they run.
constexpr RefinementStep kSteps[] = {
    {"graphcut", &Refinement::graph_cut}, {"lr", &Refinement::left_right},
    {"vote", &Refinement::vote},          {"interpolate", &Refinement::interpolate},
    {"edges", &Refinement::edges},        {"subpixel", &Refinement::subpixel},
    {"median", &Refinement::median},      {"smooth", &Refinement::smooth},
    {"patches", &Refinement::patches},    {"prior", &Refinement::prior}};

void add_step(Refinement& refinement, const std::string& word) {
  std::vector<std::string> words;
  for (const RefinementStep& step : kSteps) {
    if (word == step.word) refinement.*step.flag = true;
    if (word == step.word) return;
    words.emplace_back(step.word);
  }
  throw UsageError("it must be none, or a list of " + list_of(words) + ", with commas between them");
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

/// Calls `visit(options, steps)` with the options that hold the penalties of a method, if it has any.
/// @param spec  const, or to be changed
template <class Spec, class Visit>
void visit_penalties(Spec& spec, const Visit& visit) {
  const float steps = whole_cost_steps(spec.cost);
  if (spec.optimizer == Optimizer::kSemiGlobal) visit(spec.semi_global, steps);
  if (spec.optimizer == Optimizer::kScanline) visit(spec.scanline, steps);
  const bool cuts = spec.optimizer == Optimizer::kWinnerTakeAll && spec.refine.graph_cut;
  if (cuts || spec.optimizer == Optimizer::kGraphCut) visit(spec.graph_cut, steps);
}

}  // namespace

Refinement parse_refinement(const std::string& list) {
  Refinement refinement;
  if (list == "none") return refinement;
  for (const std::string& word : split_list(list)) add_step(refinement, word);
  if (refinement.left_right || !(refinement.vote || refinement.interpolate)) return refinement;
  throw UsageError(std::string(refinement.vote ? "vote" : "interpolate") +
                   " repairs what the check of both views finds: name lr too");
}

std::string format_refinement(const Refinement& refinement) {
  std::string list;
  for (const RefinementStep& step : kSteps)
    if (refinement.*step.flag) list += std::string(list.empty() ? "" : ",") + step.word;
  return list.empty() ? "none" : list;
}

std::string pipeline_cost_keyword(const CostOptions& cost) {
  return cost.kind == CostKind::kTransform ? word_of(cost.transform.transform, kTransforms)
                                           : word_of(cost.kind, kColourCosts);
}

void set_pipeline_cost(MethodSpec& pipeline, const std::string& word) {
  if (const auto colour = kColourCosts.find(word); colour != kColourCosts.end())
    pipeline.cost.kind = colour->second;
  if (const auto transform = kTransforms.find(word); transform != kTransforms.end()) {
    pipeline.cost.kind = CostKind::kTransform;
    pipeline.cost.transform.transform = transform->second;
  }
  presets::set_default_penalties(pipeline);
}

int window_of(const MethodSpec& spec) {
  const AggregationOptions& by = spec.aggregation;
  if (spec.whole == WholeMethod::kBlockMatching) return 2 * spec.block.radius + 1;
  if (is_swept(spec.cost.kind)) return spec.cost.window;
  return 2 * (by.kind == Aggregation::kAdaptiveWeight ? by.adaptive_weight.radius : by.constant_radius) + 1;
}

void set_window(MethodSpec& spec, int side) {
  const int radius = (side - 1) / 2;
  if (spec.whole == WholeMethod::kBlockMatching)
    spec.block.radius = radius;
  else if (is_swept(spec.cost.kind))
    spec.cost.window = side;
  else
    spec.aggregation.constant_radius = spec.aggregation.adaptive_weight.radius = radius;
}

Penalties penalties_of(const MethodSpec& spec) {
  Penalties penalties;
  visit_penalties(spec, [&](const auto& holder, float steps) { penalties = penalties_in(holder, steps); });
  return penalties;
}

void set_penalty(MethodSpec& spec, int Penalties::*member, int value) {
  visit_penalties(spec, [&](auto& holder, float steps) {
    Penalties penalties = penalties_in(holder, steps);
    if constexpr (requires { holder.smoothness_cap; })  // graph cuts keep their ratio of the penalties
      if (member == &Penalties::p1) penalties.p2 = value * holder.smoothness_cap;
    penalties.*member = value;
    set(holder, penalties, steps);
  });
}

bool penalises_steps(const MethodSpec& spec) {
  bool any = false;
  visit_penalties(spec, [&](const auto&, float) { any = true; });
  return any;
}

}  // namespace recon

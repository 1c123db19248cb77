#include "session/options/pipeline_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "methods/presets.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

struct NamedMethod {
  const char* keyword;
  MethodSpec (*spec)();
};

/// In the order of Method.
constexpr NamedMethod kNamed[] = {{"planesweep", presets::plane_sweep},
                                  {"sgm", presets::semi_global},
                                  {"bp", presets::belief_propagation},
                                  {"bm", presets::block_matching},
                                  {"pipeline", presets::pipeline}};

constexpr const char* kPatchesStep = "patches";

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
  if (label_optimizer(spec) == Optimizer::kSemiGlobal) visit(spec.semi_global, steps);
  if (label_optimizer(spec) == Optimizer::kScanline) visit(spec.scanline, steps);
  const bool cuts = label_optimizer(spec) == Optimizer::kWinnerTakeAll && spec.refine.graph_cut;
  if (cuts || label_optimizer(spec) == Optimizer::kGraphCut) visit(spec.graph_cut, steps);
}

}  // namespace

std::string method_keyword(Method method) {
  return kNamed[static_cast<std::size_t>(method)].keyword;
}

MethodSpec default_method(Method method) {
  return kNamed[static_cast<std::size_t>(method)].spec();
}

std::vector<std::string> words_of_steps(unsigned of) {
  std::vector<std::string> words;
  for (const RefineStep& step : kRefineSteps)
    if (step.is(of) && !contains(words, step.word)) words.emplace_back(step.word);
  return words;
}

std::vector<std::string> explained_steps(unsigned of, unsigned already) {
  std::vector<std::string> words = words_of_steps(of);
  for (std::string& word : words)
    for (const RefineStep& step : kRefineSteps)
      if (word == step.word && step.is(of) && !step.is(already) && step.help[0] != '\0')
        word += fmt::format(" ({})", step.help);
  return words;
}

std::vector<std::string> default_steps() {
  std::vector<std::string> words;
  for (const RefineStep& step : kRefineSteps)
    if (step.is(kByDefault)) words.emplace_back(step.word);
  return words;
}

std::vector<std::string> parse_steps(const std::string& list) {
  if (list == "none") return {};
  const std::vector<std::string> given = split_list(list), all = words_of_steps();
  if (!std::ranges::all_of(given, [&](const std::string& word) { return contains(all, word); }))
    throw UsageError("it must be none, or a list of " + list_of(all) + ", with commas between them");
  for (const RefineStep& step : kRefineSteps)
    if (step.is(kNeedsCheck) && contains(given, step.word) && !contains(given, "lr"))
      throw UsageError(std::string(step.word) + " repairs what the check of both views finds: name lr too");
  std::vector<std::string> steps;
  std::ranges::copy_if(all, std::back_inserter(steps),
                       [&](const std::string& word) { return contains(given, word); });
  return steps;
}

std::string format_steps(const std::vector<std::string>& steps) {
  return steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, ","));
}

std::vector<std::string> steps_of(const MethodSpec& spec) {
  std::vector<std::string> steps;
  for (const RefineStep& step : kRefineSteps)
    if (step.is(refined_by(spec)) && (step.flag == nullptr || step.is_in(spec.refine)))
      steps.emplace_back(step.word);
  return steps;
}

void set_steps(MethodSpec& spec, const std::vector<std::string>& steps) {
  set_patches(spec, is_swept(spec.cost.kind) && contains(steps, kPatchesStep));
  spec.refine = {};
  for (const RefineStep& step : kRefineSteps)
    if (step.is(refined_by(spec)) && step.flag != nullptr)
      spec.refine.*step.flag = contains(steps, step.word);
}

std::vector<std::string> colour_costs() {
  std::vector<std::string> keywords;
  for (const SweptCost& cost : kSweptCosts)
    if (!cost.correlates) keywords.emplace_back(cost.keyword);
  return keywords;
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
  if (fused_stages(spec) == FusedStages::kBlocks) return 2 * spec.block.radius + 1;
  if (is_swept(spec.cost.kind)) return spec.cost.window;
  return 2 * (by.kind == Aggregation::kAdaptiveWeight ? by.adaptive_weight.radius : by.constant_radius) + 1;
}

void set_window(MethodSpec& spec, int side) {
  const int radius = (side - 1) / 2;
  if (fused_stages(spec) == FusedStages::kBlocks)
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

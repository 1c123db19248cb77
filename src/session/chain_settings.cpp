#include "session/chain_settings.hpp"

#include <algorithm>
#include <cmath>

#include "methods/ad_census_matching.hpp"
#include "methods/chain_costs.hpp"
#include "session/cost_words.hpp"
#include "session/option_check.hpp"
#include "session/pair_settings.hpp"

namespace recon {

namespace {

struct Step {
  const char* word;
  bool ChainRefinement::*flag;
};

/// In the order in which they run.
constexpr Step kSteps[] = {
    {"graphcut", &ChainRefinement::graph_cut}, {"lr", &ChainRefinement::left_right},
    {"vote", &ChainRefinement::vote},          {"interpolate", &ChainRefinement::interpolate},
    {"edges", &ChainRefinement::edges},        {"subpixel", &ChainRefinement::subpixel},
    {"median", &ChainRefinement::median}};

void add_step(ChainRefinement& refinement, const std::string& word) {
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
float steps_of(const ChainOptions& chain) {
  return chain.cost == ChainCost::kAdCensus ? static_cast<float>(kAdCensusSteps) : 1.0f;
}

/// Whether the graph cut is what has penalties.
bool cuts_only(const ChainOptions& chain) {
  return chain.optimizer == ChainOptimizer::kGraphCut ||
         (chain.optimizer == ChainOptimizer::kWinnerTakeAll && chain.refinement.graph_cut);
}

bool penalises(const ChainOptions& chain) {
  return chain.optimizer != ChainOptimizer::kWinnerTakeAll || chain.refinement.graph_cut;
}

/// The defaults as shares of the greatest cost. Those of semi-global paths and of the graph cut were the best
/// of a few on the colour pairs of Middlebury's evaluation of 2007, after cross-based means.
void set_default_penalties(ChainOptions& chain) {
  const int greatest = whole_cost_limit(chain);
  chain.semi_global.p1 = greatest / 4;
  chain.semi_global.p2 = greatest * 5 / 3;
  // As the system of AD-Census has them, whose costs go up to 2; in whole steps, as options name them.
  const ScanlineOptions system = ad_census_chain().scanline;
  chain.scanline.p1 = std::round(system.p1 * static_cast<float>(greatest) / 2) / steps_of(chain);
  chain.scanline.p2 = std::round(system.p2 * static_cast<float>(greatest) / 2) / steps_of(chain);
  chain.graph_cut.smoothness = static_cast<float>(std::max(1, greatest / 6)) / steps_of(chain);
}

/// min(p1 |difference|, p2) as the graph cut has it: a slope, and the step from which it rises no more; below
/// 1 where p2 < p1, which check_chain refuses.
void set_cut(ChainOptions& chain, int p1, int p2) {
  chain.graph_cut.smoothness = static_cast<float>(p1) / steps_of(chain);
  chain.graph_cut.smoothness_cap = p1 > 0 ? p2 / p1 : 1;
}

int whole(float value, const ChainOptions& chain) {
  return static_cast<int>(std::lround(value * steps_of(chain)));
}

}  // namespace

ChainOptions default_chain() {
  // What no option names is as in the system of AD-Census, so that naming its links makes the same chain.
  ChainOptions chain = ad_census_chain();
  const ChainOptions plain;
  chain.cost = plain.cost;
  chain.aggregation.kind = plain.aggregation.kind;
  chain.optimizer = plain.optimizer;
  chain.refinement = plain.refinement;
  ChainRefinement& steps = chain.refinement;
  steps.left_right = steps.subpixel = steps.median = true;
  return chain;
}

ChainOptions preset_chain(const std::string& name) {
  if (name == "ad-census") return ad_census_chain();
  throw UsageError("--preset is '" + name + "'; it can be ad-census");
}

ChainRefinement parse_refinement(const std::string& list) {
  ChainRefinement refinement;
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
                         " mends what the check of both views finds: name lr too");
  return refinement;
}

std::string format_refinement(const ChainRefinement& refinement) {
  std::string list;
  for (const Step& step : kSteps)
    if (refinement.*step.flag) list += std::string(list.empty() ? "" : ",") + step.word;
  return list.empty() ? "none" : list;
}

std::string chain_cost_word(const ChainOptions& chain) {
  return chain.cost == ChainCost::kTransform ? word_of(chain.transform.transform, kTransforms)
                                             : word_of(chain.cost, kColourCosts);
}

void set_chain_cost(ChainOptions& chain, const std::string& word) {
  if (const auto colour = kColourCosts.find(word); colour != kColourCosts.end()) chain.cost = colour->second;
  if (const auto transform = kTransforms.find(word); transform != kTransforms.end()) {
    chain.cost = ChainCost::kTransform;
    chain.transform.transform = transform->second;
  }
}

int chain_window(const ChainOptions& chain) {
  const AggregationOptions& by = chain.aggregation;
  const int radius = by.kind == Aggregation::kAdaptiveWeight ? by.adaptive_weight.radius : by.constant_radius;
  return 2 * radius + 1;
}

ChainPenalties chain_penalties(const ChainOptions& chain) {
  if (cuts_only(chain)) {
    const GraphCutOptions& cut = chain.graph_cut;
    const int p1 = whole(cut.smoothness, chain);
    return {p1, p1 * cut.smoothness_cap, cut.edge_falloff};
  }
  if (chain.optimizer == ChainOptimizer::kScanline)
    return {whole(chain.scanline.p1, chain), whole(chain.scanline.p2, chain), 0};
  if (chain.optimizer == ChainOptimizer::kSemiGlobal)
    return {chain.semi_global.p1, chain.semi_global.p2, chain.semi_global.p2_falloff};
  return {};
}

void set_chain_penalties(ChainOptions& chain, std::optional<int> p1, std::optional<int> p2,
                         std::optional<int> falloff) {
  set_default_penalties(chain);
  const ChainPenalties defaults = chain_penalties(chain);
  const int small = p1.value_or(defaults.p1), large = p2.value_or(defaults.p2);
  if (cuts_only(chain)) {
    if (p1 || p2) set_cut(chain, small, large);
    chain.graph_cut.edge_falloff = falloff.value_or(defaults.falloff);
  } else if (chain.optimizer == ChainOptimizer::kScanline) {
    if (p1) chain.scanline.p1 = static_cast<float>(small) / steps_of(chain);
    if (p2) chain.scanline.p2 = static_cast<float>(large) / steps_of(chain);
  } else if (chain.optimizer == ChainOptimizer::kSemiGlobal) {
    chain.semi_global.p1 = small, chain.semi_global.p2 = large;
    chain.semi_global.p2_falloff = falloff.value_or(defaults.falloff);
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

void check_chain(const ChainOptions& chain) {
  check_supports(chain.aggregation);
  const Aggregation kind = chain.aggregation.kind;
  if (kind == Aggregation::kConstantWindow) expect_range("--window", chain_window(chain), 1, 255);
  if (kind == Aggregation::kAdaptiveWeight)
    expect_range("--window", chain_window(chain), 1, 2 * kMaxAdaptiveRadius + 1);
  expect_odd("--rank-window", chain.transform.rank_window, 3, kMaxRankWindow);
  expect_range("--left-right", chain.left_right, 0.0f, 4096.0f);
  if (!penalises(chain)) return;
  const ChainPenalties penalties = chain_penalties(chain);
  SemiGlobalOptions all = chain.semi_global;
  all.p1 = penalties.p1, all.p2 = penalties.p2, all.p2_falloff = penalties.falloff;
  check_paths(all, 255);
}

std::string cpu_link(const ChainOptions& chain) {
  if (runs_on_gpu(chain)) return {};
  if (chain.optimizer != ChainOptimizer::kWinnerTakeAll && chain.optimizer != ChainOptimizer::kScanline)
    return "--optimizer " + word_of(chain.optimizer, kChainOptimizers);
  return chain.refinement.graph_cut ? "--refine graphcut" : "--cost " + chain_cost_word(chain);
}

std::string idle_in_chain(const ChainOptions& chain, const std::string& option) {
  const Aggregation kind = chain.aggregation.kind;
  const std::string idle = idle_support(kind, chain.refinement.vote, option);
  if (!idle.empty()) return idle;
  if (option == "--window" && kind != Aggregation::kConstantWindow && kind != Aggregation::kAdaptiveWeight)
    return "has a meaning with --aggregation cw or aw only";
  if (option == "--paths" && chain.optimizer != ChainOptimizer::kSemiGlobal)
    return "has a meaning with --optimizer sgm only";
  if ((option == "--p1" || option == "--p2") && !penalises(chain))
    return "has a meaning where steps are penalised: with --optimizer sgm, scanline or graphcut";
  if (option == "--p2-falloff" && (!penalises(chain) || chain.optimizer == ChainOptimizer::kScanline))
    return "has a meaning with --optimizer sgm or graphcut only";
  if (option == "--rank-window" &&
      (chain.cost != ChainCost::kTransform || chain.transform.transform != Transform::kRank))
    return "has a meaning with --cost rank only";
  if (option == "--left-right" && !chain.refinement.left_right) return "has a meaning with --refine lr only";
  return {};
}

}  // namespace recon

#pragma once

#include <map>
#include <optional>
#include <string>

#include "methods/chain_options.hpp"

namespace recon {

// What the words of `--cost`, `--aggregation` and `--optimizer` mean to a chain; its costs are those of
// kTransforms too.
inline const std::map<std::string, ChainCost> kColourCosts = {{"ad", ChainCost::kColourDifference},
                                                              {"ad-census", ChainCost::kAdCensus}};
inline const std::map<std::string, Aggregation> kAggregations = {{"none", Aggregation::kNone},
                                                                 {"cw", Aggregation::kConstantWindow},
                                                                 {"aw", Aggregation::kAdaptiveWeight},
                                                                 {"cross", Aggregation::kCrossBased}};
inline const std::map<std::string, ChainOptimizer> kChainOptimizers = {
    {"winner", ChainOptimizer::kWinnerTakeAll},
    {"sgm", ChainOptimizer::kSemiGlobal},
    {"scanline", ChainOptimizer::kScanline},
    {"graphcut", ChainOptimizer::kGraphCut}};

/// The chain of the program where no link is named: that of semi-global matching.
ChainOptions default_chain();

/// The chain of a preset, such as "ad-census".
/// @throws UsageError that lists the presets there are
ChainOptions preset_chain(const std::string& name);

/// The refinement that a list such as "lr,interpolate,median" means, in any order; "none" is an empty one.
/// @throws UsageError for another word, or for a step without one that it needs
ChainRefinement parse_refinement(const std::string& list);

/// The same as text, in the order in which the steps run.
std::string format_refinement(const ChainRefinement& refinement);

/// The word of a chain's cost.
std::string chain_cost_word(const ChainOptions& chain);

/// Sets cost and transform, or does nothing where the word is no cost of a chain.
void set_chain_cost(ChainOptions& chain, const std::string& word);

/// Side of the window of a constant window or of adaptive weights, pixels.
int chain_window(const ChainOptions& chain);

/// Penalties in whole steps of the cost: bits, ranks, grey levels, or hundredths of AD-Census.
struct ChainPenalties {
  int p1 = 0;       ///< of a step of one disparity
  int p2 = 0;       ///< of a larger one, at most
  int falloff = 0;  ///< grey levels of an edge over which they fall off; 0: they do not
};

/// Those of the chain's optimizer, or of its graph cut where it has no other; all 0 where nothing is
/// penalised.
ChainPenalties chain_penalties(const ChainOptions& chain);

/// Sets the penalties of all optimizers to the defaults for the chain's cost, and those that are given to
/// what they are.
void set_chain_penalties(ChainOptions& chain, std::optional<int> p1, std::optional<int> p2,
                         std::optional<int> falloff);

/// @throws UsageError that names an option of the supports, its value and what it may be
void check_supports(const AggregationOptions& aggregation);

/// Why an option of aggregation's supports, such as "--arm-length", changes nothing; empty where it does, or
/// is none of these.
/// @param votes  whether outliers are mended by votes, which follow the arms too
std::string idle_support(Aggregation kind, bool votes, const std::string& option);

/// @throws UsageError that names the option, its value and what it may be
void check_chain(const ChainOptions& chain);

/// The link of a chain that no GPU has, as its option, such as "--optimizer sgm"; empty where runs_on_gpu.
std::string cpu_link(const ChainOptions& chain);

/// Why an option, such as "--paths", changes nothing with this chain; empty where it does, or is none of a
/// chain's.
std::string idle_in_chain(const ChainOptions& chain, const std::string& option);

}  // namespace recon

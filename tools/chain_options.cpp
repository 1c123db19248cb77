#include "tools/chain_options.hpp"

#include <sstream>

#include "session/cost_words.hpp"
#include "session/option_check.hpp"
#include "tools/option_words.hpp"

namespace recon {

void ChainCommandLine::declare(CLI::App& app, const ChainOptions& defaults) {
  const char* group = "Single links (chain; planesweep: --aggregation, --refine graphcut,edges)";
  app.add_option("--preset", preset_,
                 "A named chain, whose links can be given one by one still: ad-census (--cost ad-census "
                 "--aggregation cross --optimizer scanline --refine "
                 "lr,vote,interpolate,edges,subpixel,median) [none]")
      ->group(group);
  app.add_option("--aggregation", aggregation_,
                 "What sums up costs around each pixel: none, cw (constant window), aw (adaptive weights) or "
                 "cross (arms up to the edges of colour) [" +
                     word_of(defaults.aggregation.kind, kAggregations) + "]")
      ->group(group);
  declare_supports(app, defaults.aggregation, group);
  app.add_option("--refine", refine_,
                 "none, or steps after the optimizer, which run in this order: graphcut (lower the energy), "
                 "lr (check both views), vote and interpolate (mend what the check finds; else it becomes "
                 "unknown), edges (move edges to where costs are less), subpixel, median [" +
                     format_refinement(defaults.refinement) + "; planesweep: none]")
      ->group(group);
}

void ChainCommandLine::declare_supports(CLI::App& app, const AggregationOptions& defaults,
                                        const char* group) {
  const auto add = [&](const char* name, auto& value, const std::string& what) {
    app.add_option(name, value, what)->group(group);
  };
  std::ostringstream colour, space;
  colour << defaults.adaptive_weight.gamma_colour;
  space << defaults.adaptive_weight.gamma_space;
  add("--aw-colour", aw_colour_,
      "Difference of colours (CIELab) over which adaptive weights fall off [" + colour.str() + "]");
  add("--aw-space", aw_space_, "Pixels over which adaptive weights fall off [" + space.str() + "]");
  add("--arm-length", arm_length_,
      "Pixels that an arm of a cross reaches at most [" + std::to_string(defaults.cross.reach - 1) + "]");
  add("--arm-colour", arm_colour_,
      "Grey levels of a channel at which an arm ends [" + std::to_string(defaults.cross.colour) + "]");
  add("--cross-iterations", cross_iterations_,
      "Means over the crosses that follow each other [" + std::to_string(defaults.cross_based.iterations) +
          "; planesweep: " + std::to_string(CrossBasedOptions{}.iterations) + "]");
}

void ChainCommandLine::set_supports(AggregationOptions& aggregation) const {
  AdaptiveWeightOptions& weights = aggregation.adaptive_weight;
  weights.gamma_colour = aw_colour_.value_or(weights.gamma_colour);
  weights.gamma_space = aw_space_.value_or(weights.gamma_space);
  CrossOptions& cross = aggregation.cross;
  if (arm_length_) {
    expect_range("--arm-length", *arm_length_, 0, 255);
    cross.reach = *arm_length_ + 1;
  }
  cross.colour = arm_colour_.value_or(cross.colour);
  aggregation.cross_based.iterations = cross_iterations_.value_or(aggregation.cross_based.iterations);
}

void ChainCommandLine::finish(SessionOptions& options) const {
  ChainOptions& chain = options.pair.matching.chain;
  options.preset = preset_;
  options.aggregation = aggregation_;
  options.refinement = refine_;
  if (!preset_.empty()) chain = preset_chain(preset_);
  set_chain_cost(chain, options.cost);
  if (!aggregation_.empty()) chain.aggregation.kind = named("--aggregation", aggregation_, kAggregations);
  if (const auto word = kChainOptimizers.find(options.optimizer_word); word != kChainOptimizers.end())
    chain.optimizer = word->second;
  if (!refine_.empty()) chain.refinement = parse_refinement(refine_);
  set_supports(chain.aggregation);
  set_supports(options.sweep_links.aggregation);
  // A sweep takes of these what needs no second view.
  if (!aggregation_.empty()) options.sweep_links.aggregation.kind = chain.aggregation.kind;
  if (refine_.empty()) return;
  options.sweep_links.graph_cut = chain.refinement.graph_cut;
  options.sweep_links.edges = chain.refinement.edges;
}

}  // namespace recon

#include "tools/chain_options.hpp"

#include "session/cost_words.hpp"
#include "tools/option_words.hpp"

namespace recon {

void ChainCommandLine::declare(CLI::App& app, const ChainOptions& defaults) {
  const char* group = "Single links (chain; planesweep: --aggregation, --refine graphcut)";
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
  app.add_option("--refine", refine_,
                 "none, or steps after the optimizer, which run in this order: graphcut (lower the energy), "
                 "lr (check both views), vote and interpolate (mend what the check finds; else it becomes "
                 "unknown), edges (move edges to where costs are less), subpixel, median [" +
                     format_refinement(defaults.refinement) + "; planesweep: none]")
      ->group(group);
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
  // A sweep takes of these what needs no second view.
  if (!aggregation_.empty()) options.sweep_links.aggregation.kind = chain.aggregation.kind;
  if (!refine_.empty()) options.sweep_links.graph_cut = chain.refinement.graph_cut;
}

}  // namespace recon

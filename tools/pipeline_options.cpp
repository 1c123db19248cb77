#include "tools/pipeline_options.hpp"

#include <sstream>

#include "session/options/cost_keywords.hpp"
#include "session/options/option_check.hpp"
#include "tools/option_keywords.hpp"

namespace recon {

void PipelineCommandLine::declare(CLI::App& app, const PipelineOptions& defaults) {
  const char* group = "Single stages (pipeline; planesweep: --aggregation, --refine graphcut,edges)";
  app.add_option("--preset", preset_,
                 "A named pipeline, whose stages can be given one by one still: ad-census (--cost ad-census "
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
                 "lr (check both views), vote and interpolate (repair what the check finds; else it becomes "
                 "unknown), edges (move edges to where costs are less), subpixel, median [" +
                     format_refinement(defaults.refinement) + "; planesweep: none]")
      ->group(group);
}

void PipelineCommandLine::declare_supports(CLI::App& app, const AggregationOptions& defaults,
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

void PipelineCommandLine::set_supports(AggregationOptions& aggregation) const {
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

void PipelineCommandLine::finish(SessionOptions& options) const {
  PipelineOptions& pipeline = options.pair.matching.pipeline;
  options.preset = preset_;
  options.aggregation = aggregation_;
  options.refinement = refine_;
  if (!preset_.empty()) pipeline = preset_pipeline(preset_);
  set_pipeline_cost(pipeline, options.cost);
  if (!aggregation_.empty()) pipeline.aggregation.kind = named("--aggregation", aggregation_, kAggregations);
  if (const auto word = kPipelineOptimizers.find(options.optimizer_keyword);
      word != kPipelineOptimizers.end())
    pipeline.optimizer = word->second;
  if (!refine_.empty()) pipeline.refinement = parse_refinement(refine_);
  set_supports(pipeline.aggregation);
  set_supports(options.sweep_stages.aggregation);
  // A sweep takes of these what needs no second view.
  if (!aggregation_.empty()) options.sweep_stages.aggregation.kind = pipeline.aggregation.kind;
  if (refine_.empty()) return;
  options.sweep_stages.graph_cut = pipeline.refinement.graph_cut;
  options.sweep_stages.edges = pipeline.refinement.edges;
}

}  // namespace recon

// Costs, windows, optimizers, and the stages of a pipeline.

#include "aggregate/adaptive_weight_step.hpp"
#include "session/options/option.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

using namespace jobs;

namespace {

const PipelineOptions& pipeline_of(const SessionOptions& options) {
  return options.pair.matching.pipeline;
}

std::vector<std::string> pipeline_costs() {
  std::vector<std::string> keywords = keywords_of(kColourCosts);
  for (const std::string& keyword : keywords_of(kTransforms)) keywords.push_back(keyword);
  return keywords;
}

Option cost_option() {
  return Option("cost", "NAME",
                "The cost. planesweep: zncc (normalised cross-correlation) or sad (absolute difference); "
                "sgm: census5x5, census9x7, symmetric or rank; bm: sad or ssd; pipeline: those of sgm, ad "
                "(colour difference) or ad-census (both)")
      .keyword(kSweep, RECON_FIELD(sweep.cost), kSweepCosts)
      .keyword(kSgm, RECON_FIELD(pair.matching.semi_global.transform.transform), kTransforms)
      .keyword(kBm, RECON_FIELD(pair.matching.block.cost), kBlockCosts)
      .add({kPipeline,
            [](const SessionOptions& o, Job) { return pipeline_cost_keyword(pipeline_of(o)); },
            [](SessionOptions& o, const std::string& keyword) {
              set_pipeline_cost(o.pair.matching.pipeline, keyword);
            },
            {},
            pipeline_costs()});
}

Option window_option() {
  const AggregationOptions defaults = default_pipeline().aggregation;
  return Option("window", "N", "Side of the matching window, pixels, odd; patches have at most 7")
      .number(kSweep, RECON_FIELD(sweep.window), {kMinWindow, kMaxWindow, true})
      .integer(
          kBm, [](const SessionOptions& o, Job) { return 2 * o.pair.matching.block.radius + 1; },
          [](SessionOptions& o, int side) { o.pair.matching.block.radius = (side - 1) / 2; },
          {3, 2 * kMaxBlockRadius + 1, true})
      .integer(
          kPipeline, [](const SessionOptions& o, Job) { return pipeline_window(pipeline_of(o)); },
          [](SessionOptions& o, int side) {
            AggregationOptions& by = o.pair.matching.pipeline.aggregation;
            by.constant_radius = by.adaptive_weight.radius = (side - 1) / 2;
          },
          {1, 255, true})
      .described(decimal(2 * defaults.constant_radius + 1) + ", 1 to 255 with cw, " +
                 decimal(2 * defaults.adaptive_weight.radius + 1) + ", 1 to " +
                 decimal(2 * kMaxAdaptiveRadius + 1) + " with aw")
      .only_where(
          kPipeline,
          [](const SessionOptions& o, Job) {
            const Aggregation kind = pipeline_of(o).aggregation.kind;
            return kind == Aggregation::kConstantWindow || kind == Aggregation::kAdaptiveWeight;
          },
          "has a meaning with --aggregation cw or aw only");
}

const AggregationOptions& aggregation_of(const SessionOptions& options, Job job) {
  return job.method == Method::kPipeline ? pipeline_of(options).aggregation
                                         : options.sweep_stages.aggregation;
}

bool has_weights(const SessionOptions& options, Job job) {
  return aggregation_of(options, job).kind == Aggregation::kAdaptiveWeight;
}

bool has_crosses(const SessionOptions& options, Job job) {
  return aggregation_of(options, job).kind == Aggregation::kCrossBased;
}

/// Region voting follows the arms too.
bool has_arms(const SessionOptions& options, Job job) {
  return has_crosses(options, job) ||
         (job.method == Method::kPipeline && pipeline_of(options).refinement.vote);
}

/// An option of aggregation, which a sweep and a pipeline have; `field` maps AggregationOptions to its value.
template <class Field>
Option support_option(const char* name, const char* value, const char* help, Field field, Range range) {
  const auto of_sweep = [field](auto& o) -> auto& {
    return field(o.sweep_stages.aggregation);
  };
  const auto of_pipeline = [field](auto& o) -> auto& {
    return field(o.pair.matching.pipeline.aggregation);
  };
  return Option(name, value, help).number(kSweep, of_sweep, range).number(kPipeline, of_pipeline, range);
}

/// CrossOptions::reach is the first length that an arm does not have.
int arm_length_of(const SessionOptions& options, Job job) {
  return aggregation_of(options, job).cross.reach - 1;
}

void set_arm_length(SessionOptions& options, int length) {
  for (AggregationOptions* by :
       {&options.sweep_stages.aggregation, &options.pair.matching.pipeline.aggregation})
    by->cross.reach = length + 1;
}

Option refine_option() {
  return Option("refine", "LIST",
                "none, or a list of steps after the optimizer, with commas between them, which run in this "
                "order: graphcut (lower the energy), lr (check both views), vote and interpolate (repair "
                "what the check finds; else it becomes unknown), edges (move edges to lower costs), "
                "subpixel, median. planesweep has graphcut, edges, patches (sweep small images and refine "
                "slanted patches from there) and prior (after patches, where texture is weak: planes through "
                "reliable pixels around; edges are moved after them, to where the grey levels have them); "
                "edges,patches,prior is its default unless planes or stages are given")
      .add({kSweep,
            [](const SessionOptions& o, Job) {
              RefinementSteps steps;
              steps.graph_cut = o.sweep_stages.graph_cut, steps.edges = o.sweep_stages.edges;
              steps.patches = o.sweep_stages.patches, steps.prior = o.sweep_stages.prior;
              return format_refinement(steps);
            },
            [](SessionOptions& o, const std::string& list) {
              const RefinementSteps steps = parse_refinement(list);
              o.sweep_stages.graph_cut = steps.graph_cut, o.sweep_stages.edges = steps.edges;
              o.sweep_stages.patches = steps.patches, o.sweep_stages.prior = steps.prior;
            }})
      .add({kPipeline,
            [](const SessionOptions& o, Job) { return format_refinement({pipeline_of(o).refinement}); },
            [](SessionOptions& o, const std::string& list) {
              o.pair.matching.pipeline.refinement = parse_refinement(list);
            }});
}

}  // namespace

OptionGroup matching_options() {
  OptionGroup group("Matching");
  group.add(cost_option());
  group.add("colour", "", "Match red, green and blue instead of grey, with --cost sad")
      .flag(kSweep & kScenes, RECON_FIELD(colour));
  group.add(window_option());
  group
      .add("combine", "NAME",
           "How the costs of the source views become one: min, mean, or best-k (mean of the k best)")
      .keyword(kSweep & kScenes, RECON_FIELD(sweep.combination), kCombinations);
  group.add("best-k", "K", "Number of source views of best-k")
      .number(kSweep & kScenes, RECON_FIELD(sweep.best_k), {1, kMaxBestK});
  group
      .add("optimizer", "NAME",
           "What chooses among the planes or disparities: winner (the least cost of each pixel), sgm "
           "(semi-global matching), graphcut (alpha-expansion); pipeline also scanline (four paths)")
      .keyword(kSweep, RECON_FIELD(optimizer), kSweepOptimizers)
      .keyword(kPipeline, RECON_FIELD(pair.matching.pipeline.optimizer), kPipelineOptimizers);
  return group;
}

OptionGroup stage_options() {
  const char* arms_only = "has a meaning with --aggregation cross, or --refine vote, only";
  OptionGroup group("Stages of planesweep and pipeline");
  group
      .add("aggregation", "NAME",
           "Aggregation of the costs around each pixel: none, cw (constant window), aw (adaptive weights, "
           "slow) or cross (arms that end at colour edges)")
      .keyword(kSweep, RECON_FIELD(sweep_stages.aggregation.kind), kAggregations)
      .keyword(kPipeline, RECON_FIELD(pair.matching.pipeline.aggregation.kind), kAggregations);
  group
      .add(support_option("aw-colour", "D",
                          "Colour difference (CIELab) at which adaptive weights fall to 1/e",
                          RECON_FIELD(adaptive_weight.gamma_colour), {0.1, 1000}))
      .only_where(kAll, has_weights, "has a meaning with --aggregation aw only");
  group
      .add(support_option("aw-space", "PX", "Distance at which adaptive weights fall to 1/e, pixels",
                          RECON_FIELD(adaptive_weight.gamma_space), {0.1, 1000}))
      .only_where(kAll, has_weights, "has a meaning with --aggregation aw only");
  group.add("arm-length", "PX", "Max length of the arms of a cross, pixels")
      .integer(kSweep | kPipeline, arm_length_of, set_arm_length, {0, 255})
      .only_where(kAll, has_arms, arms_only);
  group
      .add(support_option("arm-colour", "LEVELS", "Difference of a channel at which an arm ends, grey levels",
                          RECON_FIELD(cross.colour), {0, 256}))
      .only_where(kAll, has_arms, arms_only);
  group
      .add(support_option("cross-iterations", "N", "Number of successive aggregations over the crosses",
                          RECON_FIELD(cross_based.iterations), {0, 64}))
      .only_where(kAll, has_crosses, "has a meaning with --aggregation cross only");
  group.add(refine_option());
  return group;
}

}  // namespace recon

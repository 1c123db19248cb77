// Costs, windows, optimizers, and the stages of a pipeline.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "aggregate/adaptive_weight_step.hpp"
#include "core/plain_number.hpp"
#include "methods/presets.hpp"
#include "session/options/option.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

using namespace jobs;

namespace {

std::vector<std::string> pipeline_costs() {
  std::vector<std::string> keywords = keywords_of(kColourCosts);
  for (const std::string& keyword : keywords_of(kTransforms)) keywords.push_back(keyword);
  return keywords;
}

Option cost_option() {
  return Option("cost", "NAME",
                "The cost. planesweep: " + explained(kSweptCosts) +
                    "; sgm: census (5x5, of a third of the resolution where the texture is weak), census5x5, "
                    "census9x7, symmetric or rank; bm: sad or ssd; pipeline: those of sgm, " +
                    explained(kColourCostNames))
      .keyword(kSweep, RECON_SPEC(cost.kind), kSweepCosts)
      .keyword(kSgm, RECON_SPEC(cost.transform.transform), kTransforms)
      .keyword(kBm, RECON_SPEC(block.cost), kBlockCosts)
      .add({kPipeline,
            [](const auto& o, Job job) { return pipeline_cost_keyword(o.spec(job.method).cost); },
            [](SessionOptions& o, const std::string& keyword) {
              visit_spec(o, kPipeline, [&](MethodSpec& spec) { set_pipeline_cost(spec, keyword); });
            },
            {},
            pipeline_costs()});
}

bool has_window(const MethodSpec& spec) {
  return aggregator_of(spec.aggregation).has_window;
}

/// "cw or aw".
std::string aggregations_with_window() {
  std::string keywords;
  for (const Aggregator& it : kAggregators)
    if (it.has_window) keywords += (keywords.empty() ? "" : " or ") + std::string(it.keyword);
  return keywords;
}

Option window_option() {
  const AggregationOptions defaults = presets::pipeline().aggregation;
  return Option("window", "N", "Side of the matching window, pixels, odd; patches have at most 7")
      .integer({{kSweep, {kMinWindow, kMaxWindow, true}},
                {kBm, {3, 2 * kMaxBlockRadius + 1, true}},
                {kPipeline, {1, 255, true}}},
               window_of, set_window)
      .described(plain(2 * defaults.constant_radius + 1) + ", 1 to 255 with cw, " +
                 plain(2 * defaults.adaptive_weight.radius + 1) + ", 1 to " +
                 plain(2 * kMaxAdaptiveRadius + 1) + " with aw")
      .only_where(kPipeline, has_window,
                  "has a meaning with --aggregation " + aggregations_with_window() + " only");
}

bool has_weights(const MethodSpec& spec) {
  return spec.aggregation.kind == Aggregation::kAdaptiveWeight;
}

bool has_crosses(const MethodSpec& spec) {
  return spec.aggregation.kind == Aggregation::kCrossBased;
}

/// Region voting follows the arms too.
bool has_arms(const MethodSpec& spec) {
  return has_crosses(spec) || spec.refine.vote;
}

/// CrossOptions::reach is the first length that an arm does not have.
int arm_length_of(const MethodSpec& spec) {
  return spec.aggregation.cross.reach - 1;
}

void set_arm_length(MethodSpec& spec, int length) {
  spec.aggregation.cross.reach = length + 1;
}

Option refine_option() {
  return Option("refine", "LIST",
                fmt::format(
                    "none, or a list of steps after the optimizer, with commas between them, which run in "
                    "this order: {}. planesweep has {}; {} is its default unless planes or stages are given",
                    fmt::join(explained_steps(kOfPairs), ", "),
                    list_of(explained_steps(kOfSweeps, kOfPairs), "and"), format_steps(default_steps())))
      .add({kSweep | kPipeline,
            [](const auto& o, Job job) { return format_steps(steps_of(o.spec(job.method))); },
            [](SessionOptions& o, const std::string& list) {
              const std::vector<std::string> steps = parse_steps(list);
              visit_spec(o, kSweep | kPipeline, [&](MethodSpec& spec) { set_steps(spec, steps); });
            }});
}

}  // namespace

OptionGroup matching_options() {
  const auto optimizer = [](auto& spec) -> auto& {
    return label_optimizer(spec);
  };
  OptionGroup group("Matching");
  group.add(cost_option());
  group.add("colour", "", "Match red, green and blue instead of grey, with --cost " + list_of(colour_costs()))
      .flag(kSweep & kScenes, RECON_FIELD(colour));
  group.add(window_option());
  group
      .add("combine", "NAME",
           "How the costs of the source views become one: min, mean, or best-k (mean of the k best)")
      .keyword(kSweep & kScenes, RECON_SPEC(cost.combination), kCombinations);
  group.add("best-k", "K", "Number of source views of best-k")
      .number(kSweep & kScenes, RECON_SPEC(cost.best_k), {1, kMaxBestK});
  group
      .add("optimizer", "NAME",
           "What chooses among the planes or disparities: winner (the least cost of each pixel), sgm "
           "(semi-global matching), graphcut (alpha-expansion); pipeline also scanline (four paths)")
      .keyword(kSweep, SpecField{optimizer}, kSweepOptimizers)
      .keyword(kPipeline, RECON_SPEC(optimizer), kPipelineOptimizers);
  return group;
}

OptionGroup stage_options() {
  constexpr Jobs kStaged = kSweep | kPipeline;
  const char* arms_only = "has a meaning with --aggregation cross, or --refine vote, only";
  OptionGroup group("Stages of planesweep and pipeline");
  group.add("aggregation", "NAME", "Aggregation of the costs around each pixel: " + explained(kAggregators))
      .keyword(kStaged, RECON_SPEC(aggregation.kind), kAggregations);
  group.add("aw-colour", "D", "Colour difference (CIELab) at which adaptive weights fall to 1/e")
      .number(kStaged, RECON_SPEC(aggregation.adaptive_weight.gamma_colour), {0.1, 1000})
      .only_where(kAll, has_weights, "has a meaning with --aggregation aw only");
  group.add("aw-space", "PX", "Distance at which adaptive weights fall to 1/e, pixels")
      .number(kStaged, RECON_SPEC(aggregation.adaptive_weight.gamma_space), {0.1, 1000})
      .only_where(kAll, has_weights, "has a meaning with --aggregation aw only");
  group.add("arm-length", "PX", "Max length of the arms of a cross, pixels")
      .integer({{kStaged, {0, 255}}}, arm_length_of, set_arm_length)
      .only_where(kAll, has_arms, arms_only);
  group.add("arm-colour", "LEVELS", "Difference of a channel at which an arm ends, grey levels")
      .number(kStaged, RECON_SPEC(aggregation.cross.colour), {0, 256})
      .only_where(kAll, has_arms, arms_only);
  group.add("cross-iterations", "N", "Number of successive aggregations over the crosses")
      .number(kStaged, RECON_SPEC(aggregation.cross_based.iterations), {0, 64})
      .only_where(kAll, has_crosses, "has a meaning with --aggregation cross only");
  group.add(refine_option());
  return group;
}

}  // namespace recon

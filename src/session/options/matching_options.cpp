// Costs, windows, optimizers, the stages of a pipeline, and options of the methods for rectified pairs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "aggregate/adaptive_weight_step.hpp"
#include "core/plain_number.hpp"
#include "methods/hypotheses.hpp"
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

namespace {

/// Costs are at most 255, and sums of costs and penalties at most kMaxPathCost.
constexpr Range kPenalty = {0, kMaxPathCost - 255};

constexpr const char* kSgmOrCut = "has a meaning with --optimizer sgm or graphcut only";

bool follows_paths(const MethodSpec& spec) {
  return label_optimizer(spec) == Optimizer::kSemiGlobal;
}

/// Whether the penalties of a pipeline fall off at edges.
bool has_falloff(const MethodSpec& spec) {
  return penalises_steps(spec) && spec.optimizer != Optimizer::kScanline;
}

Option rank_window_option() {
  return Option("rank-window", "N", "Side of the window of --cost rank, pixels, odd")
      .integer(
          {{kSgm | kPipeline, {3, kMaxRankWindow, true}}},
          [](const MethodSpec& spec) { return spec.cost.transform.rank_window; },
          [](MethodSpec& spec, int side) {
            spec.cost.transform.rank_window = side;
            if (!fused_stages(spec)) presets::set_default_penalties(spec);
          })
      .only_where(
          kPipeline, [](const MethodSpec& spec) { return pipeline_cost_keyword(spec.cost) == "rank"; },
          "has a meaning with --cost rank only");
}

/// Fused stages have no list of steps: -1 for no check.
int max_difference(const MethodSpec& spec) {
  const std::optional<FusedStages> fused = fused_stages(spec);
  if (fused == FusedStages::kBlocks) return spec.block.left_right;
  const bool checked = !fused || spec.refine.left_right;
  return checked ? static_cast<int>(spec.left_right) : -1;
}

void set_max_difference(MethodSpec& spec, int pixels) {
  spec.block.left_right = pixels;
  spec.left_right = static_cast<float>(std::max(pixels, 0));
  if (spec.judge == WinnerJudge::kSums) spec.refine.left_right = pixels >= 0;
}

Option left_right_option() {
  return Option("left-right", "PX",
                "Max difference between the disparities of both views, pixels; sgm and bm: -1 for no check")
      .integer({{kSgm | kBm, {-1, kMaxDisparities}}, {kPipeline, {0, 4096}}}, max_difference,
               set_max_difference)
      .only_where(
          kPipeline, [](const MethodSpec& spec) { return spec.refine.left_right; },
          "has a meaning with --refine lr only");
}

/// An option that sets a penalty.
/// @param of_pipeline  the default of a pipeline
Option penalty_option(const char* name, const char* value, const char* help, int Penalties::*member,
                      const Range& range, const std::string& of_pipeline) {
  const auto load = [member](const MethodSpec& spec) { return penalties_of(spec).*member; };
  const auto store = [member](MethodSpec& spec, int penalty) { set_penalty(spec, member, penalty); };
  return Option(name, value, help)
      .integer({{kSweep | kSgm, range}, {kPipeline, range}}, load, store)
      .described(of_pipeline)
      .only_where(kSweep, penalises_steps, kSgmOrCut);
}

/// --depth-png: mm, or a number.
void set_depth_png(SessionOptions& options, const std::string& text) {
  const auto number = to_number<double>(text);
  if (text != "mm" && !(number && *number > 0 && std::isfinite(*number)))
    throw UsageError("write mm, or the units of the calibration that a step is, such as 0.001");
  options.pair.depth_png = text == "mm" ? 0 : *number;
}

std::string depth_png_text(const std::optional<double>& step) {
  return !step ? "" : *step == 0 ? "mm" : plain(*step);
}

}  // namespace

OptionGroup pair_options() {
  OptionGroup group("Rectified pairs");
  group.add("min-disparity", "D", "Min disparity x_left - x_right, pixels; may be negative")
      .number(kPairs, RECON_FIELD(pair.min_disparity), {-kMaxDisparity, kMaxDisparity})
      .described("0");
  group.add("max-disparity", "D", "End of the disparities, pixels: searched is min <= d < max")
      .number(kPairs, RECON_FIELD(pair.max_disparity), {-kMaxDisparity, 2 * kMaxDisparity})
      .described("ndisp of calib.txt");
  group
      .add(
          "calibration", "FILE",
          "The calibration, in the folder of the pair or anywhere: Middlebury's calib.txt; P1 and P2 or Q of "
          "OpenCV's stereoRectify (YAML or JSON); P0 to P3 of KITTI; JSON of RealSense with intrinsics and "
          "baseline",
          OptionScope::kPlace)
      .text(kPairs, RECON_FIELD(pair.calibration))
      .described("calib.txt, .yml, .yaml or .json, or KITTI's calib_cam_to_cam.txt in the folder of a pair");
  group
      .add("depth-png", "mm|NUMBER",
           "Write depth.png too: 16 bits, 0 where unknown; a step is a millimetre, or NUMBER units of the "
           "calibration")
      .add({kPairs, [](const auto& o, Job) { return depth_png_text(o.pair.depth_png); }, set_depth_png})
      .described("there is none")
      .in(OptionResult::kCloudFile);
  group.add("fill", "", "A disparity for every pixel: holes get planes of the surfaces beside them")
      .flag(kPairs, RECON_FIELD(pair.fill));
  return group;
}

OptionGroup semi_global_options() {
  const char* where_penalised =
      "has a meaning where steps are penalised: with --optimizer sgm, scanline or graphcut";
  OptionGroup group("Semi-global matching (sgm, planesweep, pipeline)");
  group.add(rank_window_option());
  group.add("paths", "N", "Number of path directions, 4 or 8")
      .number(kSweep | kSgm | kPipeline, RECON_SPEC(semi_global.paths), {.values = {4, 8}})
      .only_where(kSweep | kPipeline, follows_paths, "has a meaning with --optimizer sgm only");
  group
      .add(penalty_option(
          "p1", "COST", "Penalty of a step of one disparity; of --cost ad-census in hundredths",
          &Penalties::p1, kPenalty, "of the max cost 1/4 with sgm, 1/2 with scanline, 1/6 with graphcut"))
      .only_where(kPipeline, penalises_steps, where_penalised);
  group
      .add(penalty_option("p2", "COST", "Penalty of a larger step", &Penalties::p2, kPenalty,
                          "of the max cost 5/3 with sgm, 3/2 with scanline, 1/3 with graphcut"))
      .only_where(kPipeline, penalises_steps, where_penalised);
  group
      .add(penalty_option("p2-falloff", "LEVELS",
                          "Difference of an edge over which --p2 falls off, grey levels; 0: it does not",
                          &Penalties::falloff, {0, 255}, plain(GraphCutOptions().edge_falloff)))
      .only_where(kPipeline, has_falloff, kSgmOrCut);
  group.add("uniqueness", "PERCENT", "Min cost margin of the winner over other disparities, per cent")
      .number(kSgm, RECON_SPEC(uniqueness), {0, 99})
      .number(kBm, RECON_SPEC(block.uniqueness), {0, 99});
  group.add(left_right_option());
  return group;
}

OptionGroup block_options() {
  OptionGroup group("Block matching (bm)");
  group
      .add("prefilter", "NAME",
           "sobel: compare horizontal gradients, which do not depend on the brightness; none: grey levels")
      .keyword(kBm, RECON_SPEC(block.prefilter), kPrefilters);
  group.add("prefilter-cap", "N", "Clipping bound of the gradients")
      .number(kBm, RECON_SPEC(block.prefilter_cap), {1, kMaxPrefilterCap});
  group.add("steps", "N", "Disparities searched per pixel: 1, 2 or 4")
      .number(kBm, RECON_SPEC(block.steps_per_pixel), {.values = {1, 2, 4}});
  group.add("pyramid", "N", "Number of pyramid levels; coarse ones match large disparities")
      .number(kBm, RECON_SPEC(block.pyramid_levels), {1, kMaxPyramidLevels});
  group.add("max-mean-cost", "COST", "Max mean cost per pixel of a trusted disparity; 0: no limit")
      .number(kBm, RECON_SPEC(block.max_mean_cost), {0, 65025});
  return group;
}

OptionGroup belief_options() {
  OptionGroup group("Belief propagation (bp)");
  group.add("levels", "N", "Number of pyramid levels").number(kBp, RECON_SPEC(belief.levels), {1, 16});
  group.add("iterations", "N", "Number of iterations per level")
      .number(kBp, RECON_SPEC(belief.iterations), {1, 1000});
  group.add("data-weight", "W", "Weight of the grey difference")
      .number(kBp, RECON_SPEC(belief.data_weight), {1e-4, 100});
  group.add("data-cap", "LEVELS", "Truncation of the grey difference, grey levels")
      .number(kBp, RECON_SPEC(belief.data_cap), {0, 255});
  group
      .add("smoothness-cap", "PX",
           "Truncation of the difference between neighbours, pixels; 0: disparities / 7.5")
      .number(kBp, RECON_SPEC(belief.smoothness_cap), {0, kMaxDisparities});
  group.add("sigma", "PX", "Gaussian blur of the images beforehand, pixels; 0: none")
      .number(kBp, RECON_SPEC(belief.smoothing_sigma), {0, 10});
  group.add("storage", "TYPE", "Number format of stored messages: float, half or bfloat16")
      .keyword(kBp, RECON_SPEC(belief.storage), kStorages);
  return group;
}

}  // namespace recon

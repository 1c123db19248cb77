// Options of the methods for rectified pairs.

#include <algorithm>
#include <cmath>

#include "core/plain_number.hpp"
#include "methods/hypotheses.hpp"
#include "methods/presets.hpp"
#include "session/options/option.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

using namespace jobs;

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

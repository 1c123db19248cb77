#include "tools/pair_options.hpp"

#include "methods/backend.hpp"
#include "session/options/option_check.hpp"
#include "tools/option_keywords.hpp"

namespace recon {

namespace {

const std::map<std::string, BeliefStorage> kStorages = {
    {"float", BeliefStorage::kFloat}, {"half", BeliefStorage::kHalf}, {"bfloat16", BeliefStorage::kBfloat16}};

const std::map<std::string, BlockPrefilter> kPrefilters = {{"none", BlockPrefilter::kNone},
                                                           {"sobel", BlockPrefilter::kSobel}};

std::string in_brackets(int sgm, int sweep, const std::string& pipeline = {}) {
  return " [sgm: " + std::to_string(sgm) + ", planesweep: " + std::to_string(sweep) +
         (pipeline.empty() ? "" : "; pipeline: " + pipeline) + "]";
}

}  // namespace

void PairCommandLine::declare(CLI::App& app, PairSettings& settings) {
  const char* group = "Rectified pairs";
  app.add_option("--min-disparity", settings.min_disparity,
                 "Least disparity in pixels, x_left - x_right, also negative [0]")
      ->group(group);
  app.add_option("--max-disparity", settings.max_disparity,
                 "End of the disparities: searched is min <= d < max [ndisp of calib.txt]")
      ->group(group);
  app.add_flag("--fill", settings.fill, "A disparity for every pixel: holes from the background beside them")
      ->group(group);
  declare_semi_global(app, settings);
  declare_block(app, settings.matching.block);
  declare_belief(app, settings.matching.belief);
}

void PairCommandLine::declare_semi_global(CLI::App& app, PairSettings& settings) {
  const char* group = "Semi-global matching (sgm, planesweep, pipeline)";
  const SemiGlobalPairOptions& sgm = settings.matching.semi_global;
  const SemiGlobalOptions sweep = SweepPaths().penalties;
  const BlockMatchingOptions& block = settings.matching.block;
  app.add_option("--rank-window", settings.matching.semi_global.transform.rank_window,
                 "Side of the window of --cost rank, odd, 3 to 15")
      ->capture_default_str()
      ->group(group);
  app.add_option("--paths", paths_,
                 "Directions that costs come from, 4 or 8" +
                     in_brackets(sgm.optimizer.paths, sweep.paths,
                                 std::to_string(settings.matching.pipeline.semi_global.paths)))
      ->group(group);
  app.add_option("--p1", p1_,
                 "Penalty of a step of one disparity; of --cost ad-census in hundredths" +
                     in_brackets(sgm.optimizer.p1, sweep.p1,
                                 "of the greatest cost 1/4 with sgm, 1/2 with scanline, 1/6 with graphcut"))
      ->group(group);
  app.add_option("--p2", p2_,
                 "Penalty of a larger step" +
                     in_brackets(sgm.optimizer.p2, sweep.p2,
                                 "of the greatest cost 5/3 with sgm, 3/2 with scanline, 1/3 with graphcut"))
      ->group(group);
  app.add_option("--p2-falloff", p2_falloff_,
                 "Grey levels of an edge over which --p2 falls off; 0: it does not" +
                     in_brackets(sgm.optimizer.p2_falloff, sweep.p2_falloff,
                                 std::to_string(settings.matching.pipeline.graph_cut.edge_falloff)))
      ->group(group);
  app.add_option("--uniqueness", uniqueness_,
                 "Per cent that other disparities have to be dearer [sgm: " + std::to_string(sgm.uniqueness) +
                     ", bm: " + std::to_string(block.uniqueness) + "]")
      ->group(group);
  app.add_option(
         "--left-right", left_right_,
         "Pixels up to which the winners of both images agree; -1: no check [sgm: " +
             std::to_string(sgm.left_right) + ", bm: " + std::to_string(block.left_right) +
             ", pipeline: " + std::to_string(static_cast<int>(settings.matching.pipeline.left_right)) + "]")
      ->group(group);
}

void PairCommandLine::declare_block(CLI::App& app, BlockMatchingOptions& block) {
  const char* group = "Block matching (bm)";
  app.add_option("--prefilter", prefilter_,
                 "sobel: horizontal slopes are compared, whatever the brightness; none: grey levels are")
      ->capture_default_str()
      ->group(group);
  app.add_option("--prefilter-cap", block.prefilter_cap, "Maximum slope that is distinguished, 1 to 31")
      ->capture_default_str()
      ->group(group);
  app.add_option("--steps", block.steps_per_pixel, "Disparities searched per pixel: 1, 2 or 4")
      ->capture_default_str()
      ->group(group);
  app.add_option("--pyramid", block.pyramid_levels,
                 "Sizes of the images; the halved ones serve large disparities")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-mean-cost", block.max_mean_cost,
                 "Greatest mean cost per pixel of a trusted disparity; 0: any")
      ->capture_default_str()
      ->group(group);
  app.add_option("--roi", region_, "x,y,width,height: the pixels of the left image to match [all]")
      ->group(group);
}

void PairCommandLine::declare_belief(CLI::App& app, BeliefOptions& belief) {
  const char* group = "Belief propagation (bp)";
  app.add_option("--levels", belief.levels, "Levels of the pyramid")->capture_default_str()->group(group);
  app.add_option("--iterations", belief.iterations, "Iterations per level")
      ->capture_default_str()
      ->group(group);
  app.add_option("--data-weight", belief.data_weight, "Weight of the grey difference")
      ->capture_default_str()
      ->group(group);
  app.add_option("--data-cap", belief.data_cap, "Grey levels at which the difference is cut off")
      ->capture_default_str()
      ->group(group);
  app.add_option("--smoothness-cap", belief.smoothness_cap,
                 "Pixels at which the difference of neighbours is cut off; 0: disparities / 7.5")
      ->capture_default_str()
      ->group(group);
  app.add_option("--sigma", belief.smoothing_sigma, "Gaussian blur of the images beforehand, pixels; 0: none")
      ->capture_default_str()
      ->group(group);
  app.add_option("--storage", storage_, "How messages are stored: float, half or bfloat16")
      ->capture_default_str()
      ->group(group);
}

void PairCommandLine::finish_cut(GraphCutOptions& cut) const {
  cut.edge_falloff = p2_falloff_.value_or(cut.edge_falloff);
  if (!p1_ && !p2_) return;
  const int p1 = p1_.value_or(static_cast<int>(cut.smoothness));
  const int p2 = p2_.value_or(p1 * cut.smoothness_cap);
  cut.smoothness = static_cast<float>(p1);
  cut.smoothness_cap = p1 > 0 ? p2 / p1 : 1;
}

void PairCommandLine::finish(PairSettings& settings, SemiGlobalOptions& sweep) const {
  // So that sums and products of them stay in range; each method has narrower limits.
  constexpr int kMaxPenalty = 1 << 20;
  if (p1_) expect_range("--p1", *p1_, 0, kMaxPenalty);
  if (p2_) expect_range("--p2", *p2_, 0, kMaxPenalty);
  sweep.paths = paths_.value_or(sweep.paths);
  sweep.p1 = p1_.value_or(sweep.p1);
  sweep.p2 = p2_.value_or(sweep.p2);
  sweep.p2_falloff = p2_falloff_.value_or(sweep.p2_falloff);
  SemiGlobalPairOptions& sgm = settings.matching.semi_global;
  BlockMatchingOptions& block = settings.matching.block;
  sgm.optimizer.paths = paths_.value_or(sgm.optimizer.paths);
  sgm.optimizer.p1 = p1_.value_or(sgm.optimizer.p1);
  sgm.optimizer.p2 = p2_.value_or(sgm.optimizer.p2);
  sgm.optimizer.p2_falloff = p2_falloff_.value_or(sgm.optimizer.p2_falloff);
  sgm.uniqueness = uniqueness_.value_or(sgm.uniqueness);
  block.uniqueness = uniqueness_.value_or(block.uniqueness);
  sgm.left_right = left_right_.value_or(sgm.left_right);
  block.left_right = left_right_.value_or(block.left_right);
  PipelineOptions& pipeline = settings.matching.pipeline;
  pipeline.semi_global.paths = paths_.value_or(pipeline.semi_global.paths);
  pipeline.transform.rank_window = sgm.transform.rank_window;
  if (left_right_) pipeline.left_right = static_cast<float>(*left_right_);
  set_pipeline_penalties(pipeline, p1_, p2_, p2_falloff_);
  block.prefilter = named("--prefilter", prefilter_, kPrefilters);
  if (!region_.empty()) block.region = parse_region(region_);
  settings.matching.belief.storage = named("--storage", storage_, kStorages);
}

}  // namespace recon

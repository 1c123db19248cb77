#include "tools/reconstruct_options.hpp"

#include <map>

#include "core/error.hpp"
#include "core/program.hpp"
#include "session/options/byte_size.hpp"
#include "session/options/cost_keywords.hpp"
#include "tools/option_keywords.hpp"

namespace recon {

namespace {

const std::map<std::string, Combination> kCombinations = {
    {"min", Combination::kMinimum}, {"mean", Combination::kMean}, {"best-k", Combination::kBestK}};
const std::map<std::string, Stage> kStages = {
    {"all", Stage::kAll}, {"estimate", Stage::kEstimate}, {"fuse", Stage::kFuse}};

template <class Value>
void set_if_named(Value& value, const std::string& word, const std::map<std::string, Value>& values) {
  if (const auto found = values.find(word); found != values.end()) value = found->second;
}

/// A word may mean something to several methods; whether it does to the one chosen is checked with the jobs.
void set_cost(SessionOptions& options, const std::string& word) {
  options.cost = word;
  set_if_named(options.sweep.cost, word, kSweepCosts);
  set_if_named(options.pair.matching.block.cost, word, kBlockCosts);
  set_if_named(options.pair.matching.semi_global.transform.transform, word, kTransforms);
}

/// The same of `--optimizer`.
/// @throws UsageError for a word that means nothing to any method
void set_optimizer(SessionOptions& options, const std::string& word) {
  const auto pipeline = kPipelineOptimizers.find(word);
  if (pipeline == kPipelineOptimizers.end()) named("--optimizer", word, kPipelineOptimizers);
  set_if_named(options.optimizer, word, kSweepOptimizers);
}

/// The bytes that an option grants; nothing where it was not given.
std::optional<std::size_t> limit_of(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    return parse_byte_size(text);
  } catch (const UsageError& error) {
    throw UsageError(option + ": " + error.what());
  }
}

}  // namespace

void CommandLine::declare(CLI::App& app) {
  app.add_option("INPUT", options.inputs,
                 "Scenes: folders with images/ and sparse/ as COLMAP has them; rectified pairs: folders with "
                 "im0.png, im1.png and calib.txt as Middlebury has them; folders of such folders; or the two "
                 "image files of one rectified pair, left and right")
      ->configurable(false);
  app.add_option("--config", config_, "TOML file with options of the same names; the command line wins")
      ->configurable(false);
  declare_work(app);
  declare_matching(app);
  pipeline_.declare(app, options.pair.matching.pipeline);
  pairs_.declare(app, options.pair);
  declare_hypotheses(app);
  declare_filters(app);
  declare_limits(app);
}

void CommandLine::declare_work(CLI::App& app) {
  const char* group = "Work";
  app.add_option(
         "--method", method_,
         "The pipeline of steps: planesweep, or for rectified pairs and for scenes sgm (semi-global "
         "matching), bp (belief propagation), bm (block matching) or pipeline (single stages over a "
         "volume of costs) [scenes: planesweep, pairs: sgm; pipeline with --preset, and for pairs with "
         "stages that only it has]")
      ->group(group);
  app.add_option("--device", options.device,
                 "auto (every usable GPU, else the CPU), cpu, cuda, or GPUs such as cuda:0,2")
      ->capture_default_str()
      ->group(group);
  app.add_option("-o,--output", options.output,
                 "Output folder; several inputs get one folder each in it [dense/ in the scene or "
                 "pair; ./dense for two image files]")
      ->group(group);
  app.add_option("--views", options.views, "Shell pattern over names: the views to get depth maps")
      ->capture_default_str()
      ->group(group);
  app.add_option("--shard", shard_, "I/N: the I-th of N parts of the views, with --stage estimate")
      ->capture_default_str()
      ->group(group);
  app.add_option("--stage", stage_,
                 "estimate: up to the depth maps of single views; fuse: from those on; all")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--dry-run", options.dry_run, "Print the plan and do nothing")
      ->configurable(false)
      ->group(group);
  app.add_flag("--overwrite", options.overwrite,
               "Do finished work again, also in a folder with files of other programs; without it a run goes "
               "on where the last one ended")
      ->configurable(false)
      ->group(group);
  app.add_flag("--wait", options.wait, "Wait while another reconstruct writes into the same output folder")
      ->configurable(false)
      ->group(group);
}

void CommandLine::declare_matching(CLI::App& app) {
  const char* group = "Matching";
  const PairOptions& pair = options.pair.matching;
  app.add_option(
         "--cost", cost_,
         "planesweep: zncc (normalised cross-correlation) or sad (absolute difference); sgm: "
         "census5x5, census9x7, symmetric or rank; bm: sad or ssd; pipeline: those of sgm, ad (colour "
         "difference) or ad-census (both) [" +
             word_of(options.sweep.cost, kSweepCosts) + ", " +
             word_of(pair.semi_global.transform.transform, kTransforms) + ", " +
             word_of(pair.block.cost, kBlockCosts) + ", " + pipeline_cost_keyword(pair.pipeline) + "]")
      ->group(group);
  app.add_flag("--colour", options.colour, "Match red, green and blue instead of grey (sad only)")
      ->group(group);
  app.add_option(
         "--window", window_,
         "Side of the matching window in pixels, odd [planesweep: " + std::to_string(options.sweep.window) +
             ", 3 to 15; bm: " + std::to_string(2 * pair.block.radius + 1) +
             ", 3 to 31; cw: " + std::to_string(2 * pair.pipeline.aggregation.constant_radius + 1) +
             ", 1 to 255; aw: " + std::to_string(2 * pair.pipeline.aggregation.adaptive_weight.radius + 1) +
             ", 1 to 129]")
      ->group(group);
  app.add_option("--combine", combine_,
                 "Cost over the source views: min, mean, or best-k (mean of the k best)")
      ->capture_default_str()
      ->group(group);
  app.add_option("--best-k", options.sweep.best_k, "The k of best-k")->capture_default_str()->group(group);
  app.add_option(
         "--optimizer", optimizer_,
         "What chooses among the planes or disparities: winner (each pixel by itself) or sgm "
         "(semi-global, with the pixels around), graphcut (alpha-expansion); pipeline also scanline (four "
         "paths) [pipeline: " +
             word_of(pair.pipeline.optimizer, kPipelineOptimizers) + "]")
      ->capture_default_str()
      ->group(group);
}

void CommandLine::declare_hypotheses(CLI::App& app) {
  const char* group = "Views and planes";
  app.add_option("--sources", options.selection.max_sources, "Source views per reference view, at most")
      ->capture_default_str()
      ->group(group);
  app.add_option("--min-angle", options.selection.min_angle_degrees,
                 "Least angle in degrees under which two views see a surface")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-angle", options.selection.max_angle_degrees, "Greatest angle in degrees")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-image-size", options.max_image_size,
                 "Longest side in pixels to work with; 0: as the photos are")
      ->capture_default_str()
      ->group(group);
  app.add_option("--planes", planes_,
                 "Number of planes, or auto: neighbours at most a pixel apart in every source")
      ->capture_default_str()
      ->group(group);
  app.add_option("--depth-min", options.depth.near,
                 "Nearest depth in scene units [from the sparse points or the cameras]")
      ->group(group);
  app.add_option("--depth-max", options.depth.far,
                 "Farthest depth in scene units [from the sparse points or the cameras]")
      ->group(group);
}

void CommandLine::declare_filters(CLI::App& app) {
  const char* group = "Filters and fusion";
  app.add_option("--max-cost", options.max_cost,
                 "Greatest cost of a trusted depth [zncc: 0.6, sad: 15 grey levels]")
      ->group(group);
  app.add_option("--min-confidence", options.filter.min_confidence,
                 "Least uniqueness of the best plane, 0 to 1")
      ->capture_default_str()
      ->group(group);
  app.add_option("--min-texture", min_texture_,
                 "Least contrast of a window, grey levels [planesweep, their standard deviation: " +
                     CLI::detail::to_string(options.filter.min_texture) + ", bm, their mean slope: " +
                     CLI::detail::to_string(options.pair.matching.block.min_texture) + "]")
      ->group(group);
  app.add_option("--speckle", speckle_,
                 "Patches of fewer pixels are dropped; 0: keep all [scenes: " +
                     std::to_string(options.filter.speckle_size) +
                     ", pairs: " + std::to_string(options.pair.min_patch(Method::kSemiGlobal)) +
                     ", pipelines that interpolate: 0]")
      ->group(group);
  app.add_option("--min-views", options.consistency.min_views, "Source views that have to agree on a depth")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-depth-error", options.consistency.max_relative_depth,
                 "Relative difference up to which they agree")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-normal-angle", options.consistency.max_angle_degrees,
                 "Angle in degrees between normals up to which they agree")
      ->capture_default_str()
      ->group(group);
  app.add_option("--min-fused-views", options.min_fused_views, "Views that a point of the cloud needs")
      ->capture_default_str()
      ->group(group);
  app.add_option("--point-spacing", options.point_spacing,
                 "Pixels between the points that a view gives to the cloud, 1 to 8")
      ->capture_default_str()
      ->group(group);
}

void CommandLine::declare_limits(CLI::App& app) {
  const char* group = "Machine and messages";
  app.add_option("--memory-limit", memory_limit_,
                 "Host memory to take at most, such as 4GiB [what is available]")
      ->configurable(false)
      ->group(group);
  app.add_option("--gpu-memory-limit", gpu_memory_limit_, "GPU memory to take at most [most of what is free]")
      ->configurable(false)
      ->group(group);
  app.add_option("--threads", options.threads, "Threads to use at most; 0: as many as the process may")
      ->capture_default_str()
      ->configurable(false)
      ->group(group);
  app.add_flag("--quiet", options.quiet, "Only warnings and errors")->configurable(false)->group(group);
  app.add_flag("-v,--verbose", verbose, "Say more")->configurable(false)->group(group);
  app.add_flag("--json", options.json, "Print one JSON object on standard output instead of text")
      ->configurable(false)
      ->group(group);
}

void CommandLine::finish_window() {
  if (!window_) return;
  if (*window_ % 2 == 0) throw UsageError("--window is " + std::to_string(*window_) + "; it must be odd");
  const int radius = (*window_ - 1) / 2;
  options.sweep.window = *window_;
  options.pair.matching.block.radius = radius;
  AggregationOptions& by = options.pair.matching.pipeline.aggregation;
  by.constant_radius = by.adaptive_weight.radius = radius;
}

void CommandLine::finish_matching(bool optimizer_given) {
  if (!method_.empty()) {
    options.method = find_method(method_);
    if (!options.method)
      throw UsageError("--method is '" + method_ + "'; it can be planesweep, sgm, bp, bm or pipeline");
  }
  if (!cost_.empty()) set_cost(options, cost_);
  BlockMatchingOptions& block = options.pair.matching.block;
  options.filter.min_texture = min_texture_.value_or(options.filter.min_texture);
  block.min_texture = min_texture_.value_or(block.min_texture);
  options.filter.speckle_size = speckle_.value_or(options.filter.speckle_size);
  options.pair.speckle = speckle_;
  set_optimizer(options, optimizer_);
  if (optimizer_given) options.optimizer_keyword = optimizer_;
  options.sweep.combination = named("--combine", combine_, kCombinations);
  pipeline_.finish(options);
  finish_window();
  SemiGlobalOptions unused;
  const bool paths = options.optimizer == SweepOptimizer::kSemiGlobal;
  pairs_.finish(options.pair, paths ? options.sweep_paths.penalties : unused);
  if (!paths) pairs_.finish_cut(options.sweep_stages.cut);
}

void CommandLine::parse(CLI::App& app, int argc, const char* const* argv) {
  refuse_empty_arguments(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + "; reconstruct --help lists the options");
  }
}

void CommandLine::finish(CLI::App& app) {
  if (!config_.empty()) from_config_ = apply_config(read_config(config_), config_, app);
  finish_matching(app.get_option("--optimizer")->count() > 0);
  options.stage = named("--stage", stage_, kStages);
  if (options.threads <= kMaxThreads) options.threads = usable_threads(options.threads);
  options.planes = parse_planes(planes_);
  options.shard = parse_shard(shard_);
  options.memory_limit = limit_of("--memory-limit", memory_limit_);
  options.gpu_memory_limit = limit_of("--gpu-memory-limit", gpu_memory_limit_);
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) options.given.push_back(option->get_name());
  options.toml = config_text(app);
}

std::string CommandLine::with_place(const std::string& message) const {
  for (const ConfigEntry& entry : from_config_)
    if (message.starts_with("--" + entry.key + " "))
      return config_ + ":" + std::to_string(entry.line) + ": " + message;
  return message;
}

}  // namespace recon

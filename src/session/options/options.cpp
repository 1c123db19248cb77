#include "session/options/options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "match/posed_image.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"
#include "optimize/winner/winner_take_all.hpp"
#include "session/options/option_check.hpp"
#include "session/options/option_use.hpp"

namespace recon {

namespace {

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// A sweep has no second view to check, and no outliers to repair.
void check_sweep_refinement(const SessionOptions& options) {
  if (options.refinement.empty()) return;
  PipelineRefinement rest = parse_refinement(options.refinement);
  rest.graph_cut = rest.edges = false;
  if (format_refinement(rest) != "none")
    throw UsageError("--refine is '" + options.refinement +
                     "'; for --method planesweep it can be none, or a list of graphcut and edges");
  const SweepStages& stages = options.sweep_stages;
  if (stages.edges && options.optimizer == SweepOptimizer::kWinnerTakeAll && !stages.graph_cut)
    throw UsageError(
        "--refine edges has a meaning with --optimizer sgm or graphcut, or --refine graphcut, only: "
        "the cost of a winner is the least already");
}

void check_sweep(const SessionOptions& options) {
  check_sweep_refinement(options);
  expect_odd("--window", options.sweep.window, kMinWindow, kMaxWindow);
  expect_range("--best-k", options.sweep.best_k, 1, kMaxBestK);
  if (options.optimizer == SweepOptimizer::kSemiGlobal)
    check_paths(options.sweep_paths.penalties, kInvalidQuantizedCost);
  check_supports(options.sweep_stages.aggregation);
  expect_range("--p1", options.sweep_stages.cut.smoothness, 0.0f, 8191.0f);
  expect_range("--p2-falloff", options.sweep_stages.cut.edge_falloff, 0, 255);
  if (options.sweep_stages.cut.smoothness_cap < 1)
    throw UsageError("--p2 is less than --p1; a large step must not be cheaper than a small one");
  if (options.colour && options.sweep.cost == CostKind::kZncc)
    throw UsageError("--colour works with --cost sad; zncc takes grey images");
}

void check_depth(const DepthRangeOptions& depth) {
  for (const auto& [option, value] : {std::pair{"--depth-min", depth.near}, {"--depth-max", depth.far}})
    if (value && !(*value > 0 && *value < 1e30))
      throw UsageError(option + (" is " + decimal(*value)) + "; it must be positive and below 1e+30");
  if (depth.near && depth.far && !(*depth.near < *depth.far))
    throw UsageError("--depth-min is " + decimal(*depth.near) + " and --depth-max " + decimal(*depth.far) +
                     "; the least depth must be the smaller");
}

void check_angles(const ViewSelectionOptions& selection) {
  const double least = selection.min_angle_degrees, greatest = selection.max_angle_degrees;
  expect_range("--min-angle", least, 0.0, 180.0);
  expect_range("--max-angle", greatest, 0.0, 180.0);
  if (!(least < greatest))
    throw UsageError("--min-angle is " + decimal(least) + " and --max-angle " + decimal(greatest) +
                     "; the least angle must be the smaller");
}

void check_filters(const SessionOptions& options) {
  if (options.max_cost) expect_range("--max-cost", *options.max_cost, 0.0f, 255.0f);
  expect_range("--min-confidence", options.filter.min_confidence, 0.0f, 1.0f);
  expect_range("--min-texture", options.filter.min_texture, 0.0f, 255.0f);
  expect_range("--speckle", options.filter.speckle_size, 0, 1 << 30);
  expect_range("--min-views", options.consistency.min_views, 1, kMaxSources);
  expect_range("--max-depth-error", options.consistency.max_relative_depth, 1e-6f, 1.0f);
  expect_range("--max-normal-angle", options.consistency.max_angle_degrees, 0.0f, 180.0f);
  expect_range("--min-fused-views", options.min_fused_views, 1, 1 << 20);
  expect_range("--point-spacing", options.point_spacing, 1, 8);
}

/// @param words  that the option can be for the method; none where it has no meaning
void check_word(const std::string& option, const std::string& word, const std::vector<std::string>& words,
                Method method) {
  if (word.empty() || words.empty() || std::find(words.begin(), words.end(), word) != words.end()) return;
  std::string list;
  for (const std::string& other : words) list += (list.empty() ? "" : ", ") + other;
  throw UsageError(option + " is '" + word + "'; for --method " + method_keyword(method) + " it can be " +
                   list);
}

void check_job(const SessionOptions& options, Job job) {
  if (job.pair && job.method == Method::kPlaneSweep)
    throw UsageError(
        "--method planesweep needs the poses of the cameras; a rectified pair takes sgm, bp, bm or pipeline");
  check_word("--cost", options.cost, cost_keywords(job.method), job.method);
  check_word("--optimizer", options.optimizer_keyword, optimizer_keywords(job.method), job.method);
  if (job.method == Method::kPlaneSweep)
    check_sweep(options);
  else
    options.pair.check(job.method);
}

}  // namespace

Method SessionOptions::method_of(bool is_pair) const {
  if (method) return *method;
  if (!preset.empty()) return Method::kPipeline;
  if (!is_pair) return Method::kPlaneSweep;
  const bool stages = !aggregation.empty() || !refinement.empty() || kColourCosts.contains(cost) ||
                      optimizer_keyword == "scanline" || optimizer_keyword == "graphcut";
  return stages ? Method::kPipeline : Method::kSemiGlobal;
}

void SessionOptions::check(const std::vector<Job>& jobs) const {
  check_given(given, jobs);
  for (const Job job : jobs) check_job(*this, job);
  check_idle(*this, jobs);
  check_depth(depth);
  check_angles(selection);
  check_filters(*this);
  expect_range("--sources", selection.max_sources, 1, kMaxSources);
  if (planes) expect_range("--planes", *planes, 2, kMaxPlanes);
  if (max_image_size != 0) expect_range("--max-image-size", max_image_size, 16, kMaxImageSide);
  expect_range("--threads", threads, 0, kMaxThreads);
  if (shard.count > 1 && stage != Stage::kEstimate)
    throw UsageError("--shard needs --stage estimate; run --stage fuse once when all shards are done");
}

PhotometricFilterOptions SessionOptions::resolved_filter() const {
  PhotometricFilterOptions resolved_options = filter;
  resolved_options.max_cost =
      max_cost.value_or(sweep.cost == CostKind::kZncc ? kDefaultMaxZncc : kDefaultMaxSad);
  return resolved_options;
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const auto index = parse_int(std::string_view(text).substr(0, slash));
    const auto count = parse_int(std::string_view(text).substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count) return {*index, *count};
  }
  throw UsageError("--shard is '" + text + "'; write I/N with I from 1 to N, such as 2/8");
}

std::optional<int> parse_planes(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const auto number = parse_int(text);
  if (!number || *number < 2)
    throw UsageError("--planes is '" + text + "'; write auto or a number of at least 2");
  return number;
}

}  // namespace recon

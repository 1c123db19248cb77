#include "session/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "methods/hypotheses.hpp"
#include "session/options/option.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

namespace {

void check_disparities(const PairSettings& settings) {
  if (!settings.max_disparity) return;
  const int min = settings.min_disparity.value_or(0), end = *settings.max_disparity;
  if (min >= end)
    throw UsageError(fmt::format(
        "--min-disparity is {} and --max-disparity {}; searched is min <= d < max, so the min must be the "
        "smaller",
        min, end));
  if (end - min > kMaxDisparities)
    throw UsageError(fmt::format("--max-disparity is {}, which makes {} disparities; at most {} are searched",
                                 end, end - min, kMaxDisparities));
}

}  // namespace

/// A sweep has no second view to check, and no outliers to repair; a pipeline has no patches.
void SessionOptions::check_refinement(Job job) const {
  const auto refine = given.find("refine");
  if (refine == given.end()) return;
  const std::vector<std::string> words = parse_steps(refine->second.text);
  const std::string is = "--refine is '" + refine->second.text + "'; ";
  const auto others = [](const std::vector<std::string>& steps, unsigned of) {
    std::vector<std::string> rest;
    for (const std::string& word : steps)
      if (!contains(words_of_steps(of), word)) rest.push_back(word);
    return rest;
  };
  if (job.method == Method::kPipeline && !others(words, kOfPairs).empty())
    throw UsageError(is + list_of(others(words_of_steps(), kOfPairs), "and") +
                     " belong to --method planesweep");
  if (job.method != Method::kPlaneSweep) return;
  if (!others(words, kOfSweeps).empty())
    throw UsageError(is + "for --method planesweep it can be none, or a list of " +
                     list_of(words_of_steps(kOfSweeps), "and"));
  const MethodSpec& swept = sweep();
  if (const auto of_patches = others(words, kOfPlanes); !has_patches(swept) && !of_patches.empty())
    throw UsageError(
        fmt::format("--refine {} needs patches: patches,{}", of_patches.back(), of_patches.back()));
  if (has_patches(swept) && swept.cost.kind != CostKind::kZncc)
    throw UsageError("--refine patches works with --cost zncc");
  if (swept.refine.label_edges && label_optimizer(swept) == Optimizer::kWinnerTakeAll &&
      !swept.refine.graph_cut)
    throw UsageError(
        "--refine edges has a meaning with --optimizer sgm or graphcut, or --refine graphcut, only: "
        "the cost of a winner is the least already");
}

/// A scene takes a box and a pair a region, which differ in how many numbers they have.
void SessionOptions::check_roi(Job job) const {
  const auto roi_text = given.find("roi");
  const Option& option = *find_option("roi");
  if (roi_text == given.end() || !option.belongs_to(job)) return;
  if (option.setting(job)->get(*this, job).empty())
    throw UsageError("--roi is '" + roi_text->second.text + "'; " +
                     (job.pair ? "for a pair write X,Y,WIDTH,HEIGHT in pixels of the left image"
                               : "for a scene write MINX,MINY,MINZ,MAXX,MAXY,MAXZ in scene units"));
}

/// What several options of a job have to fulfil together.
void SessionOptions::check_together(Job job) const {
  const Penalties penalties = penalties_of(spec(job.method));
  if (penalties.p2 < penalties.p1)
    throw UsageError(fmt::format("--p2 is {} and --p1 {}; a large step must not be cheaper than a small one",
                                 penalties.p2, penalties.p1));
  if (job.pair) check_disparities(pair);
  check_roi(job);
  const MethodSpec& of_job = spec(job.method);
  if (job.method == Method::kPipeline && of_job.aggregation.kind == Aggregation::kAdaptiveWeight &&
      window_of(of_job) > 2 * kMaxAdaptiveRadius + 1)
    throw UsageError(fmt::format("--window is {}; with --aggregation aw it must lie between 1 and {}",
                                 window_of(of_job), 2 * kMaxAdaptiveRadius + 1));
  check_refinement(job);
  if (job.method == Method::kPlaneSweep && colour && correlates(of_job.cost.kind))
    throw UsageError(fmt::format("--colour works with --cost {}; {} takes grey images",
                                 list_of(colour_costs()), swept_cost(of_job.cost.kind)->keyword));
}

void SessionOptions::check_job(Job job) const {
  if (job.pair && job.method == Method::kPlaneSweep)
    throw UsageError(
        "--method planesweep needs the poses of the cameras; a rectified pair takes sgm, bp, bm or pipeline");
  for (const Option* option : all_options())
    if (option->idle_reason(*this, job).empty()) option->check(*this, job);
  check_together(job);
}

namespace {

[[noreturn]] void refuse(const Option& option, Job job) {
  const std::string name = "--" + option.name;
  if (!option.belongs_to({job.method, !job.pair}))
    throw UsageError(fmt::format("{} does not belong to --method {}; it is for {}", name,
                                 method_keyword(job.method), fmt::join(option.methods(), ", ")));
  std::vector<std::string> of_pairs;
  for (const Method method : kMethods)
    if (job.pair && option.belongs_to({method, true})) of_pairs.push_back(method_keyword(method));
  if (!of_pairs.empty())
    throw UsageError(
        fmt::format("{} of a rectified pair needs --method {}", name, fmt::join(of_pairs, " or ")));
  throw UsageError(job.pair ? name + " is for scenes of several views; it has no meaning for a rectified pair"
                            : name + " is for rectified pairs; it has no meaning for a scene");
}

void check_belongs(const Option& option, const std::vector<Job>& jobs) {
  if (std::ranges::none_of(jobs, [&](Job job) { return option.belongs_to(job); }))
    refuse(option, jobs.front());
}

/// A TOML string.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      result += fmt::format("\\u{:04X}", byte);
    else
      result.append(c == '"' || c == '\\' ? "\\" : "").push_back(c);
  }
  return result + '"';
}

/// Checks two bounds of one quantity.
void check_order(const char* min_name, std::optional<double> min, const char* max_name,
                 std::optional<double> max) {
  if (min && max && !(*min < *max))
    throw UsageError(fmt::format("{} is {} and {} {}; the min must be the smaller", min_name, plain(*min),
                                 max_name, plain(*max)));
}

}  // namespace

Method SessionOptions::method_of(bool is_pair) const {
  if (method) return *method;
  if (!preset.empty()) return Method::kPipeline;
  if (!is_pair) return Method::kPlaneSweep;
  const auto is = [this](const char* name, const auto& words) {
    const auto it = given.find(name);
    return it != given.end() && words(it->second.text);
  };
  const bool stages = given.contains("aggregation") || given.contains("refine") ||
                      is("cost", [](auto& word) { return kColourCosts.contains(word); }) ||
                      is("optimizer", [](auto& word) { return word == "scanline" || word == "graphcut"; });
  return stages ? Method::kPipeline : Method::kSemiGlobal;
}

/// Throws for an option that changes nothing for any of the jobs that it belongs to.
void SessionOptions::check_effect(const Option& option, const std::vector<Job>& jobs) const {
  std::string reason;
  for (const Job of : jobs) {
    if (!option.belongs_to(of)) continue;
    reason = option.idle_reason(*this, of);
    if (reason.empty()) return;
  }
  throw UsageError("--" + option.name + " " + reason);
}

void SessionOptions::check(const std::vector<Job>& jobs) const {
  for (const auto& [name, text] : given) check_belongs(*find_option(name), jobs);
  for (const Job of : jobs) check_job(of);
  for (const auto& [name, text] : given) check_effect(*find_option(name), jobs);
  check_order("--depth-min", depth_min, "--depth-max", depth_max);
  check_order("--min-angle", selection.min_angle_degrees, "--max-angle", selection.max_angle_degrees);
  if (max_image_size > 0 && max_image_size < 16)
    throw UsageError("--max-image-size is " + plain(max_image_size) + "; it must be 0 or at least 16");
  if (clean && !fuses())
    throw UsageError("--clean removes depth maps that --stage estimate is to make; give it to --stage fuse");
  if (shard.count > 1 && fuses())
    throw UsageError("--shard needs --stage estimate; run --stage fuse once when all shards are done");
}

PhotometricFilterOptions SessionOptions::resolved_filter() const {
  PhotometricFilterOptions resolved = filter;
  const bool patches = has_patches(sweep());
  const float default_cost = patches ? kDefaultMaxPatchCost : swept_cost_levels(sweep().cost.kind).trusted;
  resolved.max_cost = max_cost.value_or(default_cost);
  resolved.min_texture = min_texture.value_or(patches ? 0.0f : filter.min_texture);
  // The check across views needs all depths of patches: what is dropped contradicts nothing.
  if (patches) resolved.speckle_size = 0;
  resolved.min_confidence = patches ? 0.0f : min_confidence.value_or(filter.min_confidence);
  return resolved;
}

ConsistencyOptions SessionOptions::check_consistency(Job job) const {
  ConsistencyOptions result = consistency;
  const bool patches = swept_by_patches(job);
  result.max_angle_degrees =
      max_normal_angle.value_or(patches ? kDefaultMaxPatchAngle : consistency.max_angle_degrees);
  result.angle_follows_noise = patches && !max_normal_angle;
  if (patches && consistency.min_views == 1) result.min_lone_confidence = min_lone_confidence;
  return result;
}

ConsistencyOptions SessionOptions::fusion_consistency(Job job) const {
  ConsistencyOptions result = check_consistency(job);
  if (cloud.min_views > kDefaultMinFusedViews) result.min_lone_confidence = 1;
  return result;
}

/// Patches and their steps are the default for the cost that they have, where neither planes nor stages are
/// given.
static void resolve_patches(SessionOptions& options) {
  if (options.own_method != Method::kPlaneSweep) return;
  const GivenOptions& given = options.given;
  MethodSpec& sweep = options.own_spec;
  const bool patches = options.method_of(false) == Method::kPlaneSweep &&
                       sweep.cost.kind == CostKind::kZncc && !options.planes &&
                       !given.contains("optimizer") && !given.contains("aggregation");
  if (!given.contains("refine")) set_steps(sweep, patches ? default_steps() : std::vector<std::string>{});
  if (given.contains("window")) sweep.patch_match.radius = std::min(sweep.cost.window / 2, kMaxPatchRadius);
}

/// Sources and iterations by the quality.
static void resolve_quality(SessionOptions& options) {
  struct Settings {
    int sources, patch_sources, iterations;
  };
  constexpr std::array<Settings, 3> kSettings = {
      {{8, 8, 1}, {ViewSelectionOptions{}.max_sources, kDefaultPatchSources, 2}, {20, kMaxSources, 4}}};
  const Settings& settings = kSettings[static_cast<std::size_t>(options.quality)];
  if (!options.given.contains("sources"))
    options.selection.max_sources = has_patches(options.sweep()) ? settings.patch_sources : settings.sources;
  if (options.own_method == Method::kPlaneSweep)
    options.own_spec.patch_match.iterations = settings.iterations;
}

/// The options of a run whose own method is `method`.
static SessionOptions parse_options_of(Method method, const GivenOptions& given) {
  SessionOptions options;
  options.given = given;
  options.own_method = method;
  options.own_spec = default_method(method);
  for (const Option* option : all_options())
    if (const auto it = given.find(option->name); it != given.end()) option->set(options, it->second.text);
  resolve_patches(options);
  resolve_quality(options);
  return options;
}

MethodSpec SessionOptions::spec(Method of) const {
  return of == own_method ? own_spec : parse_options_of(of, given).own_spec;
}

MethodSpec& SessionOptions::use(Method of) {
  own_spec = spec(of);
  own_method = of;
  return own_spec;
}

PairJob SessionOptions::pair_job() const {
  const Method of_pairs = method_of(true);
  return {of_pairs, spec(of_pairs), pair, min_patch(of_pairs)};
}

SessionOptions parse_options(const GivenOptions& given) {
  SessionOptions options = parse_options_of(Method::kPlaneSweep, given);
  options.use(options.method_of(false));
  return options;
}

std::vector<std::pair<const Option*, std::string>> SessionOptions::resolved_values(Job job,
                                                                                   OptionScope scope) const {
  std::vector<std::pair<const Option*, std::string>> values;
  for (const Option* option : all_options()) {
    const Setting* setting = option->setting(job);
    if (setting == nullptr || option->scope > scope || !option->idle_reason(*this, job).empty()) continue;
    if (std::string value = setting->get(*this, job); !value.empty())
      values.emplace_back(option, std::move(value));
  }
  return values;
}

std::string SessionOptions::resolved(Job job, OptionScope scope) const {
  std::string result;
  for (const auto& [option, value] : resolved_values(job, scope))
    result += option->name + "=" + (option->kind == ValueKind::kText ? quoted(value) : value) + "\n";
  return result;
}

RecordedOptions::Values RecordedOptions::of(std::initializer_list<OptionResult> results) const {
  Values values;
  for (const OptionResult result : results)
    if (const auto it = by_result.find(result); it != by_result.end())
      values.insert(it->second.begin(), it->second.end());
  return values;
}

RecordedOptions SessionOptions::recorded(Job job) const {
  const bool patches = swept_by_patches(job);
  RecordedOptions recorded;
  for (const Option* option : all_options()) {
    const Setting* setting = option->setting(job);
    const OptionResult result = patches ? option->result_with_patches : option->result;
    if (setting == nullptr || option->scope != OptionScope::kResults ||
        !option->idle_reason(*this, job).empty())
      continue;
    const auto& value = setting->meaning ? setting->meaning : setting->get;
    if (std::string text = value(*this, job); !text.empty())
      recorded.by_result[result][option->name] = std::move(text);
  }
  return recorded;
}

std::string with_place(const std::string& message, const GivenOptions& given) {
  for (const auto& [name, option] : given)
    if (message.starts_with("--" + name + " ")) return option.place + message;
  return message;
}

}  // namespace recon

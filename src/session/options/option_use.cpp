#include "session/options/option_use.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/error.hpp"
#include "session/options/cost_keywords.hpp"
#include "session/options/option_check.hpp"

namespace recon {

namespace {

enum Methods : unsigned {
  kSweep = 1u << static_cast<unsigned>(Method::kPlaneSweep),
  kSgm = 1u << static_cast<unsigned>(Method::kSemiGlobal),
  kBp = 1u << static_cast<unsigned>(Method::kBeliefPropagation),
  kBm = 1u << static_cast<unsigned>(Method::kBlockMatching),
  kPipeline = 1u << static_cast<unsigned>(Method::kPipeline),
};
constexpr unsigned kAny = kSweep | kSgm | kBp | kBm | kPipeline;

enum class Inputs { kAll, kScenes, kPairs };

struct Use {
  const char* option;
  unsigned methods;
  Inputs inputs;
};

/// The options that do not have a meaning for every job.
constexpr Use kUses[] = {
    {"--views", kAny, Inputs::kScenes},
    {"--shard", kAny, Inputs::kScenes},
    {"--stage", kAny, Inputs::kScenes},
    {"--preset", kPipeline, Inputs::kAll},
    {"--cost", kSweep | kSgm | kBm | kPipeline, Inputs::kAll},
    {"--colour", kSweep, Inputs::kScenes},
    {"--window", kSweep | kBm | kPipeline, Inputs::kAll},
    {"--combine", kSweep, Inputs::kScenes},
    {"--best-k", kSweep, Inputs::kScenes},
    {"--aggregation", kSweep | kPipeline, Inputs::kAll},
    {"--aw-colour", kSweep | kPipeline, Inputs::kAll},
    {"--aw-space", kSweep | kPipeline, Inputs::kAll},
    {"--arm-length", kSweep | kPipeline, Inputs::kAll},
    {"--arm-colour", kSweep | kPipeline, Inputs::kAll},
    {"--cross-iterations", kSweep | kPipeline, Inputs::kAll},
    {"--optimizer", kSweep | kPipeline, Inputs::kAll},
    {"--refine", kSweep | kPipeline, Inputs::kAll},
    {"--rank-window", kSgm | kPipeline, Inputs::kAll},
    {"--paths", kSweep | kSgm | kPipeline, Inputs::kAll},
    {"--p1", kSweep | kSgm | kPipeline, Inputs::kAll},
    {"--p2", kSweep | kSgm | kPipeline, Inputs::kAll},
    {"--p2-falloff", kSweep | kSgm | kPipeline, Inputs::kAll},
    {"--uniqueness", kSgm | kBm, Inputs::kAll},
    {"--left-right", kSgm | kBm | kPipeline, Inputs::kAll},
    {"--prefilter", kBm, Inputs::kAll},
    {"--prefilter-cap", kBm, Inputs::kAll},
    {"--steps", kBm, Inputs::kAll},
    {"--pyramid", kBm, Inputs::kAll},
    {"--max-mean-cost", kBm, Inputs::kAll},
    {"--roi", kBm, Inputs::kPairs},
    {"--levels", kBp, Inputs::kAll},
    {"--iterations", kBp, Inputs::kAll},
    {"--data-weight", kBp, Inputs::kAll},
    {"--data-cap", kBp, Inputs::kAll},
    {"--smoothness-cap", kBp, Inputs::kAll},
    {"--sigma", kBp, Inputs::kAll},
    {"--storage", kBp, Inputs::kAll},
    {"--min-disparity", kAny, Inputs::kPairs},
    {"--max-disparity", kAny, Inputs::kPairs},
    {"--fill", kAny, Inputs::kPairs},
    {"--sources", kAny, Inputs::kScenes},
    {"--min-angle", kAny, Inputs::kScenes},
    {"--max-angle", kAny, Inputs::kScenes},
    {"--max-image-size", kAny, Inputs::kScenes},
    {"--planes", kSweep, Inputs::kScenes},
    {"--depth-min", kAny, Inputs::kScenes},
    {"--depth-max", kAny, Inputs::kScenes},
    {"--max-cost", kSweep, Inputs::kScenes},
    {"--min-confidence", kSweep, Inputs::kScenes},
    {"--min-texture", kSweep | kBm, Inputs::kAll},
    {"--min-views", kAny, Inputs::kScenes},
    {"--max-depth-error", kAny, Inputs::kScenes},
    {"--max-normal-angle", kAny, Inputs::kScenes},
    {"--min-fused-views", kAny, Inputs::kScenes},
    {"--point-spacing", kAny, Inputs::kScenes},
};

const Use* find_use(const std::string& option) {
  const auto found =
      std::find_if(std::begin(kUses), std::end(kUses), [&](const Use& use) { return option == use.option; });
  return found == std::end(kUses) ? nullptr : found;
}

bool has(const Use& use, Method method) {
  return (use.methods & (1u << static_cast<unsigned>(method))) != 0;
}

bool has(const Use& use, Job job) {
  return has(use, job.method) && use.inputs != (job.pair ? Inputs::kScenes : Inputs::kPairs);
}

std::string words_of(const Use& use) {
  std::string words;
  for (const Method method : {Method::kPlaneSweep, Method::kSemiGlobal, Method::kBeliefPropagation,
                              Method::kBlockMatching, Method::kPipeline})
    if (has(use, method)) words += (words.empty() ? "" : ", ") + method_keyword(method);
  return words;
}

[[noreturn]] void refuse(const Use& use, Job job) {
  const std::string option = use.option;
  if (!has(use, job.method))
    throw UsageError(option + " does not belong to --method " + method_keyword(job.method) + "; it is for " +
                     words_of(use));
  throw UsageError(job.pair
                       ? option + " is for scenes of several views; it has no meaning for a rectified pair"
                       : option + " is for rectified pairs; it has no meaning for a scene");
}

std::string quoted(const std::string& word) {
  return "\"" + word + "\"";
}

std::string sweep_refinement(const SweepStages& stages) {
  PipelineRefinement steps;
  steps.graph_cut = stages.graph_cut;
  steps.edges = stages.edges;
  return format_refinement(steps);
}

std::string cost_keyword(const SessionOptions& options, Method method) {
  const PairOptions& pair = options.pair.matching;
  switch (method) {
    case Method::kPlaneSweep:
      return word_of(options.sweep.cost, kSweepCosts);
    case Method::kSemiGlobal:
      return word_of(pair.semi_global.transform.transform, kTransforms);
    case Method::kPipeline:
      return pipeline_cost_keyword(pair.pipeline);
    default:
      return word_of(pair.block.cost, kBlockCosts);
  }
}

/// Whether the penalties of a sweep are those of its graph cut.
bool cuts_only(const SessionOptions& options) {
  return options.optimizer == SweepOptimizer::kGraphCut ||
         (options.optimizer == SweepOptimizer::kWinnerTakeAll && options.sweep_stages.graph_cut);
}

SemiGlobalOptions sweep_penalties(const SessionOptions& options) {
  SemiGlobalOptions penalties = options.sweep_paths.penalties;
  if (!cuts_only(options)) return penalties;
  const GraphCutOptions& cut = options.sweep_stages.cut;
  penalties.p1 = static_cast<int>(cut.smoothness);
  penalties.p2 = penalties.p1 * cut.smoothness_cap;
  penalties.p2_falloff = cut.edge_falloff;
  return penalties;
}

/// The options of aggregation's supports.
std::map<std::string, std::string> values_of_supports(const AggregationOptions& by) {
  return {{"aw-colour", decimal(by.adaptive_weight.gamma_colour)},
          {"aw-space", decimal(by.adaptive_weight.gamma_space)},
          {"arm-length", std::to_string(by.cross.reach - 1)},
          {"arm-colour", std::to_string(by.cross.colour)},
          {"cross-iterations", std::to_string(by.cross_based.iterations)}};
}

/// The options whose default depends on the method, and what they are for a job.
std::map<std::string, std::string> values_by_method(const SessionOptions& options, Job job) {
  const PairOptions& pair = options.pair.matching;
  const bool sweep = job.method == Method::kPlaneSweep, block = job.method == Method::kBlockMatching;
  const SemiGlobalOptions paths = sweep ? sweep_penalties(options) : pair.semi_global.optimizer;
  const auto number = [](int value) { return std::to_string(value); };
  return {
      {"method", quoted(method_keyword(job.method))},
      {"cost", quoted(cost_keyword(options, job.method))},
      {"window", number(sweep ? options.sweep.window : 2 * pair.block.radius + 1)},
      {"uniqueness", number(block ? pair.block.uniqueness : pair.semi_global.uniqueness)},
      {"left-right", number(block ? pair.block.left_right : pair.semi_global.left_right)},
      {"paths", number(paths.paths)},
      {"p1", number(paths.p1)},
      {"p2", number(paths.p2)},
      {"p2-falloff", number(paths.p2_falloff)},
      {"min-texture", decimal(sweep ? options.filter.min_texture : pair.block.min_texture)},
      {"speckle", number(job.pair ? options.pair.min_patch(job.method) : options.filter.speckle_size)},
      {"aggregation", quoted(word_of(options.sweep_stages.aggregation.kind, kAggregations))},
      {"optimizer", quoted(word_of(options.optimizer, kSweepOptimizers))},
      {"refine", quoted(sweep_refinement(options.sweep_stages))},
  };
}

/// The same of a pipeline.
std::map<std::string, std::string> values_of_pipeline(const SessionOptions& options, Job job) {
  const PipelineOptions& pipeline = options.pair.matching.pipeline;
  const PipelinePenalties penalties = pipeline_penalties(pipeline);
  const auto number = [](int value) { return std::to_string(value); };
  return {
      {"method", quoted(method_keyword(job.method))},
      {"cost", quoted(cost_keyword(options, job.method))},
      {"aggregation", quoted(word_of(pipeline.aggregation.kind, kAggregations))},
      {"optimizer", quoted(word_of(pipeline.optimizer, kPipelineOptimizers))},
      {"refine", quoted(format_refinement(pipeline.refinement))},
      {"window", number(pipeline_window(pipeline))},
      {"rank-window", number(pipeline.transform.rank_window)},
      {"left-right", number(static_cast<int>(pipeline.left_right))},
      {"paths", number(pipeline.semi_global.paths)},
      {"p1", number(penalties.p1)},
      {"p2", number(penalties.p2)},
      {"p2-falloff", number(penalties.falloff)},
      {"speckle", number(job.pair ? options.pair.min_patch(job.method) : options.filter.speckle_size)},
  };
}

/// Why an option of a job changes nothing as the others are; empty where it does.
std::string idle_reason(const SessionOptions& options, Job job, const std::string& option) {
  if (job.method == Method::kPipeline) return idle_in_pipeline(options.pair.matching.pipeline, option);
  const std::string idle = idle_support(options.sweep_stages.aggregation.kind, false, option);
  if (!idle.empty()) return idle;
  if (job.method != Method::kPlaneSweep || options.optimizer == SweepOptimizer::kSemiGlobal) return {};
  if (option == "--paths") return "has a meaning with --optimizer sgm only";
  if (cuts_only(options)) return {};
  for (const char* of_penalties : {"--p1", "--p2", "--p2-falloff"})
    if (option == of_penalties) return "has a meaning with --optimizer sgm or graphcut only";
  return {};
}

/// Options that say which part of the work a process does: the results are the same for any division.
bool is_part_of_work(const std::string& key) {
  return key == "stage" || key == "shard";
}

}  // namespace

bool uses_option(Job job, const std::string& option) {
  const Use* use = find_use(option);
  return use == nullptr || has(*use, job);
}

void check_given(const std::vector<std::string>& given, const std::vector<Job>& jobs) {
  for (const std::string& option : given)
    if (std::none_of(jobs.begin(), jobs.end(), [&](Job job) { return uses_option(job, option); }))
      refuse(*find_use(option), jobs.front());
}

void check_idle(const SessionOptions& options, const std::vector<Job>& jobs) {
  for (const std::string& option : options.given) {
    std::string reason;
    const bool useful = std::any_of(jobs.begin(), jobs.end(), [&](Job job) {
      if (!uses_option(job, option)) return false;
      const std::string idle = idle_reason(options, job, option);
      if (!idle.empty()) reason = idle;
      return idle.empty();
    });
    if (!useful && !reason.empty()) throw UsageError(option + " " + reason);
  }
}

std::string resolved_options(const SessionOptions& options, Job job) {
  const bool pipeline = job.method == Method::kPipeline;
  auto by_method = pipeline ? values_of_pipeline(options, job) : values_by_method(options, job);
  by_method.merge(values_of_supports(pipeline ? options.pair.matching.pipeline.aggregation
                                              : options.sweep_stages.aggregation));
  std::istringstream lines(options.toml);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find('='));
    if (!by_method.contains(key) && !is_part_of_work(key) && uses_option(job, "--" + key))
      result += line + "\n";
  }
  for (const auto& [key, value] : by_method)
    if (uses_option(job, "--" + key) && idle_reason(options, job, "--" + key).empty())
      result += key + "=" + value + "\n";
  return result;
}

}  // namespace recon

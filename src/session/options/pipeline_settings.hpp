#pragma once

#include <map>
#include <optional>
#include <string>

#include "methods/stereo/pipeline_options.hpp"

namespace recon {

// What the words of `--cost`, `--aggregation` and `--optimizer` mean to a pipeline; its costs are those of
// kTransforms too.
inline const std::map<std::string, PipelineCost> kColourCosts = {{"ad", PipelineCost::kColourDifference},
                                                                 {"ad-census", PipelineCost::kAdCensus}};
inline const std::map<std::string, Aggregation> kAggregations = {{"none", Aggregation::kNone},
                                                                 {"cw", Aggregation::kConstantWindow},
                                                                 {"aw", Aggregation::kAdaptiveWeight},
                                                                 {"cross", Aggregation::kCrossBased}};
inline const std::map<std::string, PipelineOptimizer> kPipelineOptimizers = {
    {"winner", PipelineOptimizer::kWinnerTakeAll},
    {"sgm", PipelineOptimizer::kSemiGlobal},
    {"scanline", PipelineOptimizer::kScanline},
    {"graphcut", PipelineOptimizer::kGraphCut}};

/// The pipeline of the program where no stage is named: that of semi-global matching.
PipelineOptions default_pipeline();

/// The pipeline of a preset, such as "ad-census".
/// @throws UsageError that lists the presets there are
PipelineOptions preset_pipeline(const std::string& name);

/// The refinement that a list such as "lr,interpolate,median" means, in any order; "none" is an empty one.
/// @throws UsageError for another word, or for a step without one that it needs
PipelineRefinement parse_refinement(const std::string& list);

/// The same as text, in the order in which the steps run.
std::string format_refinement(const PipelineRefinement& refinement);

/// The word of a pipeline's cost.
std::string pipeline_cost_keyword(const PipelineOptions& pipeline);

/// Sets cost and transform, or does nothing where the word is no cost of a pipeline.
void set_pipeline_cost(PipelineOptions& pipeline, const std::string& word);

/// Side of the window of a constant window or of adaptive weights, pixels.
int pipeline_window(const PipelineOptions& pipeline);

/// Penalties in whole steps of the cost: bits, ranks, grey levels, or hundredths of AD-Census.
struct PipelinePenalties {
  int p1 = 0;       ///< of a step of one disparity
  int p2 = 0;       ///< of a larger one, at most
  int falloff = 0;  ///< grey levels of an edge over which they fall off; 0: they do not
};

/// Those of the pipeline's optimizer, or of its graph cut where it has no other; all 0 where nothing is
/// penalised.
PipelinePenalties pipeline_penalties(const PipelineOptions& pipeline);

/// Sets the penalties of all optimizers to the defaults for the pipeline's cost, and those that are given to
/// what they are.
void set_pipeline_penalties(PipelineOptions& pipeline, std::optional<int> p1, std::optional<int> p2,
                            std::optional<int> falloff);

/// @throws UsageError that names an option of the supports, its value and what it may be
void check_supports(const AggregationOptions& aggregation);

/// Why an option of aggregation's supports, such as "--arm-length", changes nothing; empty where it does, or
/// is none of these.
/// @param votes  whether outliers are repaired by votes, which follow the arms too
std::string idle_support(Aggregation kind, bool votes, const std::string& option);

/// @throws UsageError that names the option, its value and what it may be
void check_pipeline(const PipelineOptions& pipeline);

/// Why an option, such as "--paths", changes nothing with this pipeline; empty where it does, or is none of a
/// pipeline's.
std::string idle_in_pipeline(const PipelineOptions& pipeline, const std::string& option);

}  // namespace recon

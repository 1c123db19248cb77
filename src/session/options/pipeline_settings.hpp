#pragma once

#include <string>

#include "methods/stereo/pair.hpp"
#include "session/options/options.hpp"

namespace recon {

/// The pipeline of `--preset ad-census`.
PipelineOptions ad_census_preset();

/// The steps of pipelines, and those that only sweeps have.
struct RefinementSteps : PipelineRefinement {
  bool patches = false, prior = false;
};

/// The refinement that a list such as "lr,interpolate,median" means, in any order; "none" is an empty one.
/// @throws UsageError that says what the list must be
RefinementSteps parse_refinement(const std::string& list);

/// The same as text, in the order in which the steps run.
std::string format_refinement(const RefinementSteps& refinement);

/// The keyword of a pipeline's cost.
std::string pipeline_cost_keyword(const PipelineOptions& pipeline);

/// Sets cost, transform and the default penalties for them.
void set_pipeline_cost(PipelineOptions& pipeline, const std::string& keyword);

/// Side of the window of a constant window or of adaptive weights, pixels.
int pipeline_window(const PipelineOptions& pipeline);

/// Penalties in whole steps of the cost: bits, ranks, grey levels, codes of a sweep, or hundredths of
/// AD-Census.
struct Penalties {
  int p1 = 0;       ///< of a step of one disparity
  int p2 = 0;       ///< of a larger one, at most
  int falloff = 0;  ///< grey levels of an edge over which they fall off; 0: they do not
};

/// The penalties of a job's optimizer, or of its graph cut where it has no other; all 0 where nothing is
/// penalised.
Penalties penalties_of(const SessionOptions& options, Job job);

/// Sets one penalty for all methods.
void set_penalty(SessionOptions& options, int Penalties::*member, int value);

/// Whether a job has penalties.
bool penalises_steps(const SessionOptions& options, Job job);

/// Sets the penalties of all optimizers of a pipeline to the defaults for its cost.
void set_default_penalties(PipelineOptions& pipeline);

}  // namespace recon

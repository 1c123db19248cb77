#pragma once

#include <string>

#include "methods/stereo/pair.hpp"

namespace recon {

/// The pipeline of the program where no stage is named: that of semi-global matching.
PipelineOptions default_pipeline();

/// The pipeline of `--preset ad-census`.
PipelineOptions ad_census_preset();

/// The refinement that a list such as "lr,interpolate,median" means, in any order; "none" is an empty one.
/// @throws UsageError that says what the list must be
PipelineRefinement parse_refinement(const std::string& list);

/// The same as text, in the order in which the steps run.
std::string format_refinement(const PipelineRefinement& refinement);

/// The keyword of a pipeline's cost.
std::string pipeline_cost_keyword(const PipelineOptions& pipeline);

/// Sets cost, transform and the default penalties for them.
void set_pipeline_cost(PipelineOptions& pipeline, const std::string& keyword);

/// Side of the window of a constant window or of adaptive weights, pixels.
int pipeline_window(const PipelineOptions& pipeline);

}  // namespace recon

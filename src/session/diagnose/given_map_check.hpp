#pragma once

#include <string>

#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"

namespace recon {

/// Warns where the given depths of some active views do not fit the sparse points or each other, see
/// doubts_of, and where maps have fewer pixels than the images.
/// @throws InputError where next to nothing of the maps agrees
/// @throws Interrupted
void check_given_maps(const SceneInput& input, const ScenePlan& plan, const SceneSettings& settings,
                      Findings& findings);

/// Looks at the headers of the given maps for a plan: views whose maps are seen there to be of no use are
/// failures, and warnings say so, and where maps have fewer pixels than the images. No pixels are read.
/// @param output  the folder of the results
/// @throws InputError where none is of use
void check_given_headers(const SceneInput& input, const ScenePlan& plan, const SceneSettings& settings,
                         const std::string& output, Findings& findings);

/// The same of priors: warns of those that are seen to be of no use.
void check_prior_headers(const SceneInput& input, const ScenePlan& plan, Findings& findings);

/// That no given map is of use, by the first view that failed.
std::string no_usable_maps(const std::string& output, const Findings& findings);

}  // namespace recon

#pragma once

#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"

namespace recon {

/// Sets levels and planes of a view that is swept.
void choose_planes(const MatchingSettings& matching, int index, ScenePlan& plan);

/// Rectifies every view with its sources; says of those that have sources but no pair why.
/// @throws InputError when no view has a pair, but some have sources
void choose_pairs(const MatchingSettings& matching, ScenePlan& plan);

}  // namespace recon

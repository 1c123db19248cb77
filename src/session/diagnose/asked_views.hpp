#pragma once

#include <cstddef>

#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/products/findings.hpp"

namespace recon {

/// Warns where --min-views asks for more views than any view has as sources, which is what it can have.
void warn_of_min_views(const ScenePlan& plan, const SceneSettings& settings, Findings& findings);

/// Warns where --min-fused-views asks for more than the views that are fused. Without any, the run ends with
/// the reason.
void warn_of_min_fused_views(std::size_t views, const SceneSettings& settings, Findings& findings);

}  // namespace recon

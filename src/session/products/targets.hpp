#pragma once

#include <vector>

#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// What a run is to make of a scene: --stage, --tile, --export-points and --export-priors choose steps,
/// --views and --shard the views.
struct Targets {
  explicit Targets(const SceneSettings& settings)
      : estimates(settings.plan.estimates),
        checks(settings.plan.checks),
        planes(settings.check.fills_areas()),
        tiles(settings.cloud.tile > 0),
        exported(settings.cloud.exports()) {}

  bool estimates, checks, planes, tiles, exported;

  /// Whether a step is among what the run is to do.
  bool does(Step step) const {
    if (step == Step::kPrepare) return true;
    if (step == Step::kEstimate) return estimates;
    if ((step == Step::kPlanes && !planes) || (step == Step::kTiles && !tiles) ||
        (step == Step::kExport && !exported))
      return false;
    return checks;
  }

  /// The views of a plan that a step of the run is for; of fusion those that it fuses.
  std::vector<int> views_of(Step step, const ScenePlan& plan) const {
    if (!does(step)) return {};
    if (step == Step::kPrepare) return plan.needed_views();
    return step == Step::kEstimate ? plan.active_views() : plan.views_in_scope();
  }
};

}  // namespace recon

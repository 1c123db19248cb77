#pragma once

#include <vector>

#include "session/options/options.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// What a run is to make of a scene: --stage, --tile, --export-points and --export-priors choose steps,
/// --views and --shard the views.
struct Targets {
  Stage stage;
  bool planes, tiles, exported;

  /// Whether a step is among what the run is to do.
  bool does(Step step) const;

  /// The views of a plan that a step of the run is for; of fusion those that it fuses.
  std::vector<int> views_of(Step step, const ScenePlan& plan) const;
};

/// What the options of a run ask for.
Targets targets_of(const SessionOptions& options, const SceneSettings& settings);

}  // namespace recon

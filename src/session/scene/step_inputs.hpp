#pragma once

#include <nlohmann/json.hpp>

#include "session/scene/scene_run.hpp"

namespace recon {

/// What the result of each step depends on, as it stands in the step's record: options by their names with
/// the texts that give them, see OptionResult, and photos, cameras, poses and the results of other steps. The
/// device is not among it: a run that was begun on one may be finished on another.
nlohmann::json prepare_inputs(const SceneRun& run, int view, const std::string& photo_hash);
nlohmann::json estimate_inputs(const SceneRun& run, int view);

/// @param sources  the sources that have depth maps
nlohmann::json check_inputs(const SceneRun& run, int view, const std::vector<int>& sources);

/// @param views  the checked views, in the order of fusion
nlohmann::json fusion_inputs(const SceneRun& run, const std::vector<int>& views);

/// Of the tiles of the run's cloud.
nlohmann::json tile_inputs(const SceneRun& run);

/// Of the model with points of the run's cloud.
nlohmann::json export_inputs(const SceneRun& run);

}  // namespace recon

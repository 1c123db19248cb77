#pragma once

#include <string>

#include "session/plan/plan.hpp"
#include "session/products/scene_products.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// @param scene  for messages
/// @throws UsageError for a --tile that is far too small for the sparse points or less than a pixel is wide,
/// before anything is computed
void check_tile_size(const std::string& scene, const ScenePlan& plan, const CloudSettings& cloud);

/// Removes the tiles of the cloud of an earlier run.
/// @param replaced  by those of this run; else a message says that there were some
/// @throws OutputError
void remove_tiles(SceneProducts& products, bool replaced);

/// Divides the finished cloud into tiles of --tile scene units; finished tiles of the same cloud are kept,
/// all others are removed.
/// @throws UsageError when there would be too many, OutputError, Interrupted
void tile_cloud(SceneProducts& products, const StepInputs& inputs, double tile);

}  // namespace recon

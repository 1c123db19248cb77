#pragma once

#include <vector>

#include "session/plan/plan.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// The index of each view of the plan in the model that `write_dense_model` writes; -1 where it is not in it.
std::vector<int> dense_indices(const ScenePlan& plan);

/// Writes the model of the undistorted images, patch-match.cfg and fusion.cfg.
/// @throws OutputError
void write_dense_model(const ScenePlan& plan, const Workspace& workspace);

}  // namespace recon

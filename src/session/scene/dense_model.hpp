#pragma once

#include <vector>

#include "scene/scene.hpp"
#include "session/plan/plan.hpp"

namespace recon {

/// `scene` without the views for which `keep` is false; their track elements are removed, points stay.
Scene keep_views(const Scene& scene, const std::vector<bool>& keep);

/// The scene of the undistorted images of the plan's needed views: PINHOLE cameras, the same poses and
/// points. Observations are moved to where the undistorted image has them; those outside it are dropped.
/// Views are in the order of the plan; where their ids are not ascending in it, they are renumbered from 1.
Scene undistorted_scene(const ScenePlan& plan);

}  // namespace recon

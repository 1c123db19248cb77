#pragma once

#include "render/scene_description.hpp"
#include "scene/scene.hpp"

namespace recon {

/// The calibrated scene that a structure from motion without errors would have found: cameras, views and
/// poses of the description, and points on the true surfaces, each with an observation in every view that
/// sees it (by ray casting, not at grazing angles). Surfaces without any detail have no points. Observations
/// carry Gaussian noise as the description says; `error` of a point is its mean reprojection error in pixels.
/// Fewer points than asked for come out where too few places are seen by enough views. Determinism: a
/// function of the description alone.
/// @throws InputError when the description is not valid
Scene sparse_scene(const SceneDescription& description);

}  // namespace recon

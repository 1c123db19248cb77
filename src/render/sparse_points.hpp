#pragma once

#include "render/scene_description.hpp"
#include "scene/scene.hpp"

namespace recon {

/// The calibrated scene of an error-free structure from motion: cameras, views and poses of the description,
/// and points on the true surfaces, each with an observation in every view that sees it (by ray casting, not
/// at grazing angles). Surfaces without detail have no points. Observations have Gaussian noise as specified
/// in the description; `error` of a point is its mean reprojection error in pixels. There are fewer points
/// than requested if too few candidates are seen by enough views. Determinism: a function of the description
/// only.
/// @throws InputError when the description is not valid
Scene sparse_scene(const SceneDescription& description);

}  // namespace recon

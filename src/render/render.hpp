#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "render/scene_description.hpp"
#include "scene/scene.hpp"

namespace recon {

/// A rendered image with ground truth on the same (possibly distorted) pixel grid.
struct RenderedView {
  Image<Rgb8> image;
  Image<float>
      depth;  ///< z at the pixel centre (panoramas: distance), scene units; NaN where nothing is seen
  Image<Vec3f> normal;  ///< in camera coordinates, unit length, facing the camera; NaN where nothing is seen
};

/// Renders a view by ray tracing: colours are the mean of samples x samples rays per pixel; depth and normal
/// are those of the ray through the pixel centre, exact up to float rounding. Grey levels are linear:
/// round(255 * gain * radiance + noise), clamped to 0..255. Pixels without a ray of the camera's lens are
/// black and unknown; surfaces at or behind the plane z = 0 (fisheye lenses) have a colour but no depth.
/// Determinism: the same bytes for any number of threads.
/// @param view  index into description.views
/// @throws InputError when the description is not valid
RenderedView render_view(const SceneDescription& description, int view);

/// The calibrated scene of an error-free structure from motion: cameras, views and poses of the description,
/// and points on the true surfaces, each with an observation in every view that sees it (by ray casting, not
/// at grazing angles). Surfaces without detail have no points. Observations have Gaussian noise as specified
/// in the description; `error` of a point is its mean reprojection error in pixels. There are fewer points
/// than requested if too few candidates are seen by enough views. Determinism: a function of the description
/// only.
/// @throws InputError when the description is not valid
Scene sparse_scene(const SceneDescription& description);

}  // namespace recon

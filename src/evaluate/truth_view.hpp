#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/camera.hpp"
#include "scene/pose.hpp"

namespace recon {

/// Ground-truth depth of one view.
struct TruthView {
  const Camera& camera;
  const Pose& cam_from_world;
  /// Scene units, of the camera's size; unknown: not finite or <= 0. Of a panorama it is the distance.
  ImageView<const float> depth;
};

/// Whether a depth or truth pixel is known: finite and > 0.
bool is_known_depth(float depth);

/// The world points of all known pixels, at their centres, row by row. Pixels without a ray in the camera are
/// omitted.
std::vector<Vec3d> truth_points(const TruthView& view);

/// Evaluation of one point against ground-truth depth, accumulated over views by `observe`.
struct PointVerdict {
  bool on_truth = false;              ///< projects onto a known pixel of at least one view
  std::optional<double> depth_error;  ///< least |z - z_true| / z_true over its own views that have truth
};

/// Projects each point into a view and updates its verdict: z is compared with the truth at its pixel. Points
/// behind the camera or outside the frame are unchanged; occlusion is ignored, hence the smallest error over
/// the views.
/// @param points    world coordinates; points that are not finite are unchanged
/// @param own_view  per point: whether the view is used for its depth_error; empty: for all points
/// @param verdicts  one per point
void observe(std::span<const Vec3d> points, const TruthView& view, const std::vector<std::uint8_t>& own_view,
             std::vector<PointVerdict>& verdicts);

}  // namespace recon

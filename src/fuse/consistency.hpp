#pragma once

#include <vector>

#include "fuse/depth_view.hpp"

namespace recon {

/// Criteria for the agreement of another view with a depth.
struct ConsistencyOptions {
  float max_relative_depth = 0.01f;  ///< |z_predicted / z_found - 1| in the other view
  float max_angle_degrees = 60.0f;   ///< angle between the two normals, if both are known
  int min_views = 1;                 ///< other views that must agree
};

/// The depths of `reference` on which at least `min_views` of `sources` agree; NaN elsewhere. The criterion
/// is relative depth, not reprojection distance: a threshold in pixels would reject the widest and best
/// baselines.
Image<float> consistent_depth(const DepthView& reference, const std::vector<DepthView>& sources,
                              const ConsistencyOptions& options);

}  // namespace recon

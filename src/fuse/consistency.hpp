#pragma once

#include <vector>

#include "fuse/depth_view.hpp"

namespace recon {

/// When another view agrees with a depth.
struct ConsistencyOptions {
  float max_relative_depth = 0.01f;  ///< |z_predicted / z_found - 1| in the other view
  float max_angle_degrees = 60.0f;   ///< between the two normals, where both are known
  int min_views = 1;                 ///< other views that must agree
};

/// The depths of `reference` that at least `min_views` of `sources` agree with; NaN elsewhere. Relative
/// depth, not distance in pixels, decides: a pixel gate would throw out the widest and best baselines.
Image<float> consistent_depth(const DepthView& reference, const std::vector<DepthView>& sources,
                              const ConsistencyOptions& options);

}  // namespace recon

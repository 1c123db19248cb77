#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// The depth map of a view with the data to compare it with others. Unknown is NaN.
struct DepthView {
  Pinhole camera;
  Pose cam_from_world;
  ImageView<const float> depth;       ///< z, scene units
  ImageView<const Vec3f> normal;      ///< unit, camera frame
  ImageView<const float> confidence;  ///< [0, 1]
};

}  // namespace recon

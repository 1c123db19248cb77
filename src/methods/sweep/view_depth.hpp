#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// Result of one view before the consistency check across views. Unknown is NaN in all maps.
struct ViewDepth {
  Image<float> depth;       ///< z, scene units
  Image<Vec3f> normal;      ///< unit, camera frame, facing the camera
  Image<float> confidence;  ///< [0, 1]
};

/// Last stage of every pipeline: removes speckles, filters by a median, and computes normals.
/// @param depth         z at pixel centres, NaN = unknown, of the camera's size
/// @param confidence    of the same size; set to unknown where the depth is unknown
/// @param median        3 x 3 median of the known depths
/// @param speckle_size  connected patches of fewer pixels are dropped; 0: keep all
ViewDepth finish_view(Image<float> depth, Image<float> confidence, const Pinhole& camera, bool median,
                      int speckle_size);

}  // namespace recon

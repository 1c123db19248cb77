#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// What one view contributes before the check across views. Unknown is NaN in all of them.
struct ViewDepth {
  Image<float> depth;       ///< z, scene units
  Image<Vec3f> normal;      ///< unit, camera frame, facing the camera
  Image<float> confidence;  ///< [0, 1]
};

/// The end of every pipeline: drops speckles, smooths, and gives each depth that is left its normal.
/// @param depth         z at pixel centres, NaN = unknown, of the camera's size
/// @param confidence    of the same size; becomes unknown where the depth is
/// @param median        3 x 3 median of the known depths
/// @param speckle_size  connected patches of fewer pixels are dropped; 0: keep all
ViewDepth finish_view(Image<float> depth, Image<float> confidence, const Pinhole& camera, bool median,
                      int speckle_size);

}  // namespace recon

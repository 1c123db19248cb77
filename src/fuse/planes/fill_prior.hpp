#pragma once

#include "fuse/holes.hpp"
#include "scene/depth_range.hpp"

namespace recon {

/// The confidence of pixels that a prior fills, above that of those that planes fill.
inline constexpr float kPriorConfidence = 3;

/// Sets the depths, normals and confidences of the pixels where a prior has a depth, but for those that the
/// mask ignores, depths outside of bounds, and depths that the prior confirms to within 2 %.
/// @param prior   depths of an image that is `factor` times smaller, NaN where the prior says nothing or is
///                not asked
/// @param normals  of the same image
void fill_prior(ImageView<const float> prior, ImageView<const Vec3f> normals, int factor,
                const DepthRange& bounds, const CheckedMaps& maps);

}  // namespace recon

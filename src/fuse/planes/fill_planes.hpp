#pragma once

#include <cstdint>
#include <vector>

#include "fuse/holes.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "scene/depth_range.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// The confidence of pixels that planes fill, above that of any match.
inline constexpr float kFilledConfidence = 2;

/// Sets the depths, normals and confidences of the pixels that planes fill, but for those that the mask
/// ignores and depths outside of bounds; those of pixels without a surface are invalidated.
/// @param labels  of the view's pixels, see label_areas; of an image that is `factor` times smaller
void fill_planes(ImageView<const std::uint8_t> labels, int factor, const std::vector<WorldPlane>& planes,
                 const Pinhole& camera, const Pose& cam_from_world, const DepthRange& bounds,
                 const CheckedMaps& maps);

/// The depths of the pixels that planes fill, of an image of the same size: infinite where no surface is, NaN
/// where no label says anything.
Image<float> depths_of_planes(ImageView<const std::uint8_t> labels, const std::vector<WorldPlane>& planes,
                              const Pinhole& camera, const Pose& cam_from_world);

}  // namespace recon

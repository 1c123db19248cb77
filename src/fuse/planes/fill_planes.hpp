#pragma once

#include <cstdint>
#include <vector>

#include "fuse/holes.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "scene/depth_range.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// Sets the depths, normals and confidences of the pixels that planes fill, but for those that the mask
/// ignores and depths outside of bounds; those of pixels without a surface are invalidated.
/// @param labels      of the view's pixels, see label_areas; of an image that is `factor` times smaller
/// @param confidence  of what is set
void fill_planes(ImageView<const std::uint8_t> labels, int factor, const std::vector<WorldPlane>& planes,
                 const Pinhole& camera, const Pose& cam_from_world, const DepthRange& bounds,
                 float confidence, const CheckedMaps& maps);

}  // namespace recon

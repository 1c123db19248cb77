#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// Unit normals in the camera's frame, facing the camera (n . ray < 0), from differences of neighbouring points that lie
/// on the same surface; NaN where depth is unknown or a pixel has no such neighbours in x or in y.
/// @param depth  z at pixel centres, NaN = unknown, of the camera's size
Image<Vec3f> normals_from_depth(ImageView<const float> depth, const Pinhole& camera);

}  // namespace recon

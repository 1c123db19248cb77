#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// Unit normals in the camera's frame, facing the camera (n . ray < 0), from a least-squares plane through
/// the pixels of a 7 x 7 window that lie on the same surface (inverse depth within 3 % of the centre); for a
/// plane, inverse depth is an affine function of the pixel coordinates. NaN where depth is unknown or fewer
/// than 6 pixels support the plane.
/// @param depth  z at pixel centres, NaN = unknown, of the camera's size
/// Deterministic for any number of threads. Finished work is read with it: see kResultsVersion.
Image<Vec3f> normals_from_depth(ImageView<const float> depth, const Pinhole& camera);

}  // namespace recon

#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// The mean of the normals in the 5 x 5 window around each pixel that are of its surface: with depths within
/// 2 % of its own, and at most 30 degrees from its normal. Windows of neighbouring pixels hold different
/// cells near holes and where depths are noisy, which the mean evens out; creases and depth edges remain. NaN
/// where the normal is unknown. Deterministic for any number of threads.
/// @param normals  unit, NaN = unknown
/// @param depth    of the same size, NaN = unknown
Image<Vec3f> mean_normals(ImageView<const Vec3f> normals, ImageView<const float> depth);

/// The normals of depths that other views confirm: the means of normals_from_depth.
Image<Vec3f> checked_normals(ImageView<const float> depth, const Pinhole& camera);

}  // namespace recon

#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// Unit normals in the camera's frame, facing the camera (n . ray < 0), from least-squares planes of inverse
/// depth, which for a plane is an affine function of the pixel coordinates. The planes are fitted in four
/// windows, one after the other: 7 x 7 pixels within 3 % of the centre, then grids of 5 x 5 that reach 6, 12
/// and 24 pixels far, of pixels as close to the plane before as its residuals let expect. The normal is that
/// of their mean, each weighted by the 4th power of the inverse of its expected squared error: of the noise,
/// known from the residuals of the narrow windows, and of the bend of the surface, which grows with the
/// window. So wide windows count where depths are noisy, none crosses a depth edge, and what is exact stays
/// as it is. NaN where depth is unknown or fewer than 6 pixels of the first window support its plane.
/// @param depth  z at pixel centres, NaN = unknown, of the camera's size
/// Deterministic for any number of threads. Finished work is read with it: see kResultsVersion.
Image<Vec3f> normals_from_depth(ImageView<const float> depth, const Pinhole& camera);

}  // namespace recon

#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"

namespace recon::reference {

/// The depths that surround unknown pixels: written from the description of recon::fill_holes, one pixel
/// after the other, in double precision. NaN where the pixel is known or in no hole.
Image<float> interpolated_depths(ImageView<const float> depth, int reach);

}  // namespace recon::reference

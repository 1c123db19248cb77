#pragma once

#include "core/image.hpp"

namespace recon {

/// The median of the known ones of 3 x 3 values inside the image, of an even number the upper one of the two
/// in the middle; an unknown pixel (NaN) stays unknown.
/// @param in, out  of one size, not the same memory
/// Determinism: the same bits for any number of threads and on every processor.
void median_3x3(ImageView<const float> in, ImageView<float> out);

}  // namespace recon

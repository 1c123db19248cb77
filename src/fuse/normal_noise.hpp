#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"

namespace recon {

/// The noise of a view's normals: the median angle between those four pixels apart, degrees. Surfaces turn
/// little within them, so that it is small unless depths are noisy. From at most 4096 places of a grid; 0
/// where fewer than 64 of them have normals.
float normal_noise(ImageView<const Vec3f> normals);

}  // namespace recon

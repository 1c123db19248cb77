#pragma once

#include "core/image.hpp"
#include "core/vec.hpp"

namespace recon {

/// The noise of a view's normals: the median angle between those four pixels apart, degrees. Surfaces turn
/// little within them, so that it is small unless depths are noisy. Only places that are sure enough and
/// whose depths lie within 1 % count, as a sky that matches by chance is no surface. From at most 4096 places
/// of a grid; 0 where fewer than 64 of them count.
float normal_noise(ImageView<const float> depth, ImageView<const Vec3f> normal,
                   ImageView<const float> confidence);

}  // namespace recon

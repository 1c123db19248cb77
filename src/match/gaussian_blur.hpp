#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace recon {

/// Gaussian blur of an 8-bit image, first along x, then along y: weights exp(-(i / sigma)^2 / 2) for |i| <=
/// ceil(4 sigma), normalised, border pixels repeated; sigma 0: the pixels themselves, as floats. Sums run in
/// ascending order of i, so the result does not depend on the number of threads.
/// @param sigma  pixels, 0 .. 100
Image<float> gaussian_blur(ImageView<const std::uint8_t> image, float sigma);

}  // namespace recon

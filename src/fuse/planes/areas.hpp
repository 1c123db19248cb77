#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// The areas into which an image is divided: connected pixels of a similar colour.
struct Areas {
  Image<std::int32_t> label;  ///< of each pixel, [0, count), rising with the first pixel of each area
  int count = 0;
};

struct AreaOptions {
  float sigma = 0.8f;  ///< of the blur before, pixels
  float scale = 60;    ///< k: larger values make larger areas, grey levels
  int min_size = 60;   ///< pixels
};

/// Divides an image by its colours: areas that touch are one where the smallest difference between them is no
/// larger than the largest one that each needs within itself, plus k / size.
/// @param ignored  by how much colours may differ as if they were equal, grey levels, rising: shading divides
/// a surface at 0, and the edges of surfaces are lost at large values
/// @return the areas of each value, united from those of the one before
/// Source: P. Felzenszwalb, D. Huttenlocher, Efficient Graph-Based Image Segmentation, IJCV 2004.
std::vector<Areas> divide_by_colour(ImageView<const Rgb8> image, const std::vector<float>& ignored,
                                    const AreaOptions& options = {});

}  // namespace recon

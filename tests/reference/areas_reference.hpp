#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace recon::reference {

struct AreaCriteria {
  float sigma = 0, scale = 0;
  int min_size = 0;
};

/// The areas of an image by its colours at levels of ignored differences: written from the paper of
/// Felzenszwalb and Huttenlocher and the description of recon::divide_by_colour. A set is a number that each
/// of its pixels has, so that uniting two visits all pixels.
/// @return of each level, the number of the set of each pixel, row by row; any numbers
std::vector<std::vector<int>> areas_by_colour(ImageView<const Rgb8> image, const std::vector<float>& ignored,
                                              const AreaCriteria& criteria);

}  // namespace recon::reference

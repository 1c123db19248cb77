#pragma once

#include <algorithm>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// An image of one row.
template <class T>
Image<T> row_image(const std::vector<T>& values) {
  Image<T> image(static_cast<int>(values.size()), 1);
  std::copy(values.begin(), values.end(), image.row(0));
  return image;
}

template <class T>
std::vector<T> values_of(const Image<T>& image) {
  return {image.row(0), image.row(0) + image.width()};
}

}  // namespace recon

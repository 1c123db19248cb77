#pragma once

#include <vector>

#include "core/image.hpp"

namespace recon::test {

inline constexpr float U = kUnknown;

/// An image from its rows, which have the same length.
template <class T>
Image<T> image_of(const std::vector<std::vector<T>>& rows) {
  Image<T> image(static_cast<int>(rows.front().size()), static_cast<int>(rows.size()));
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) image(x, y) = rows[y][x];
  return image;
}

template <class T>
std::vector<T> row_of(const Image<T>& image, int y) {
  return {image.row(y), image.row(y) + image.width()};
}

}  // namespace recon::test

#pragma once

#include "core/image.hpp"

namespace recon {

/// An image of `value(pixel)` of all pixels of another one.
template <class T, class From, class Value>
Image<T> mapped(ImageView<const From> image, const Value& value) {
  Image<T> result(image.width, image.height);
  for (int y = 0; y < image.height; ++y) {
    const From* from = image.row(y);
    T* to = result.row(y);
    for (int x = 0; x < image.width; ++x) to[x] = value(from[x]);
  }
  return result;
}
template <class T, class From, class Value>
Image<T> mapped(const Image<From>& image, const Value& value) {
  return mapped<T>(image.view(), value);
}

/// The share of the pixels of an image for which `is(pixel)` holds; 0 of an image without pixels.
template <class T, class Is>
double share_of(ImageView<const T> image, const Is& is) {
  std::size_t count = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) count += is(image.row(y)[x]) ? 1u : 0u;
  const double all = static_cast<double>(image.width) * image.height;
  return all > 0 ? static_cast<double>(count) / all : 0;
}
template <class T, class Is>
double share_of(const Image<T>& image, const Is& is) {
  return share_of(image.view(), is);
}

/// Rec. 601 luma in integers, so that every machine has the same greys.
inline std::uint8_t luma(Rgb8 c) {
  return static_cast<std::uint8_t>((299 * c.r + 587 * c.g + 114 * c.b + 500) / 1000);
}

}  // namespace recon

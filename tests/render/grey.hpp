#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace recon::test {

/// The grey levels of a rendered image, as photos are converted for matching.
inline Image<std::uint8_t> grey(const Image<Rgb8>& image) {
  Image<std::uint8_t> result(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const Rgb8 c = image(x, y);
      result(x, y) = static_cast<std::uint8_t>((299 * c.r + 587 * c.g + 114 * c.b + 500) / 1000);
    }
  return result;
}

}  // namespace recon::test

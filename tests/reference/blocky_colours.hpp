#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "core/image.hpp"

namespace recon::reference {

/// Flat patches of three pixels with noise, so that colour differences lie below and above the edge threshold
/// of 15.
inline Image<Rgb8> blocky_colours(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> blocks(static_cast<std::size_t>((width / 3 + 1) * (height / 3 + 1)));
  for (int& block : blocks) block = static_cast<int>(random() % 60);
  Image<Rgb8> image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int block = blocks[static_cast<std::size_t>(y / 3 * (width / 3 + 1) + x / 3)];
      const auto level = [&] { return static_cast<std::uint8_t>(block + static_cast<int>(random() % 20)); };
      image(x, y).r = level(), image(x, y).g = level(), image(x, y).b = level();
    }
  return image;
}

}  // namespace recon::reference

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// Invalidates (NaN) every 4-connected patch of fewer than `min_size` pixels of `map`.
/// @param same_surface  whether two known neighbours are connected; symmetric
template <class SameSurface>
void remove_small_patches(ImageView<float> map, int min_size, const SameSurface& same_surface) {
  if (min_size <= 1) return;
  Image<std::uint8_t> visited(map.width, map.height, 0);
  std::vector<std::pair<int, int>> patch;
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      if (visited(x, y) || std::isnan(map(x, y))) continue;
      patch.assign(1, {x, y});
      visited(x, y) = 1;
      for (std::size_t next = 0; next < patch.size(); ++next) {
        const auto [px, py] = patch[next];
        const float value = map(px, py);
        for (const auto& [i, j] : {std::pair{px - 1, py}, {px + 1, py}, {px, py - 1}, {px, py + 1}}) {
          if (!map.contains(i, j) || visited(i, j) || std::isnan(map(i, j))) continue;
          if (!same_surface(value, map(i, j))) continue;
          visited(i, j) = 1;
          patch.emplace_back(i, j);
        }
      }
      if (patch.size() >= static_cast<std::size_t>(min_size)) continue;
      for (const auto& [i, j] : patch) map(i, j) = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

}  // namespace recon

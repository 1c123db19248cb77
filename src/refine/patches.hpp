#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/connected_runs.hpp"
#include "core/image.hpp"

namespace recon {

/// Invalidates (NaN) every 4-connected patch of fewer than `min_size` pixels of `map`.
/// @param same_surface  whether two known neighbours are connected; symmetric
template <class SameSurface>
void remove_small_patches(ImageView<float> map, int min_size, const SameSurface& same_surface) {
  if (min_size <= 1) return;
  constexpr int kNone = -1;
  ConnectedRuns runs;
  std::vector<int> ends;  ///< columns after the runs
  std::vector<int> above(map.width, kNone), here(above);
  for (int y = 0; y < map.height; ++y) {
    const float* row = map.row(y);
    for (int x = 0; x < map.width;) {
      const int begin = x++;
      int run = kNone;
      if (!std::isnan(row[begin])) {
        while (x < map.width && !std::isnan(row[x]) && same_surface(row[x - 1], row[x])) ++x;
        run = runs.add(x - begin);
        ends.push_back(x);
      }
      std::fill(here.begin() + begin, here.begin() + x, run);
    }
    int united_above = kNone, united_here = kNone;
    for (int x = 0; y > 0 && x < map.width; ++x) {
      const int a = above[x], b = here[x];
      if (a == kNone || b == kNone || (a == united_above && b == united_here)) continue;
      if (!same_surface(map(x, y - 1), row[x])) continue;
      runs.unite(united_above = a, united_here = b);
    }
    above.swap(here);
  }
  int run = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      if (std::isnan(map(x, y))) continue;
      const int begin = x, end = ends[run];
      x = end - 1;
      if (runs.size(run++) >= min_size) continue;
      std::fill(map.row(y) + begin, map.row(y) + end, kUnknown);
    }
}

}  // namespace recon

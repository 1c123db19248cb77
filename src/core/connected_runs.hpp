#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// Connected pixels as disjoint sets of runs, each a part of a row (Tarjan 1975: union by size, with path
/// halving).
class ConnectedRuns {
 public:
  /// Adds a run of `pixels`, of which `marked` are marked, as a set of its own; returns its number.
  int add(int pixels, int marked = 0) {
    parents_.push_back(-pixels);
    marked_.push_back(marked);
    return static_cast<int>(parents_.size()) - 1;
  }

  void unite(int a, int b) {
    a = root(a), b = root(b);
    if (a == b) return;
    if (parent(a) > parent(b)) std::swap(a, b);  // the larger one stays
    parent(a) += parent(b);
    parent(b) = a;
    marked_[a] += marked_[b];
  }

  /// Pixels of the set of a run.
  int size(int run) { return -parent(root(run)); }
  /// Marked pixels of the set of a run.
  int marked(int run) { return marked_[root(run)]; }

 private:
  int& parent(int run) { return parents_[run]; }
  int root(int run) {
    while (parent(run) >= 0) {
      if (parent(parent(run)) >= 0) parent(run) = parent(parent(run));
      run = parent(run);
    }
    return run;
  }

  std::vector<int> parents_;  ///< of a root the negative number of pixels
  std::vector<int> marked_;   ///< of a root
};

/// Invalidates (NaN) every 4-connected region of fewer than `min_size` pixels of `map`.
/// @param same_surface  whether two known neighbours are connected; symmetric
template <class SameSurface>
void remove_small_regions(ImageView<float> map, int min_size, const SameSurface& same_surface) {
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

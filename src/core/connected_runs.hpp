#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/counted_memory.hpp"
#include "core/image.hpp"

namespace recon {

/// Connected pixels as disjoint sets of runs, each a part of a row (Tarjan 1975: union by size, with path
/// halving).
class ConnectedRuns {
 public:
  static constexpr std::size_t kRunBytes = 2 * sizeof(int);

  /// @param count  of the runs to come, as far as it is known
  explicit ConnectedRuns(std::size_t count = 0) {
    parents_.reserve(count);
    marked_.reserve(count);
  }

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

/// Number of runs of a map: known pixels that follow each other in a row on one surface.
template <class SameSurface>
std::size_t count_runs(ImageView<const float> map, const SameSurface& same_surface) {
  std::size_t runs = 0;
  for (int y = 0; y < map.height; ++y) {
    const float* row = map.row(y);
    for (int x = 0; x < map.width; ++x)
      if (!std::isnan(row[x]) && (x == 0 || std::isnan(row[x - 1]) || !same_surface(row[x - 1], row[x])))
        ++runs;
  }
  return runs;
}

/// Invalidates (NaN) regions of `map`: known pixels of a row or column are connected if no other lies between
/// them, at most `reach` pixels apart.
/// @param same_surface  whether two known pixels are connected; symmetric
/// @param marked        marked(x, y): whether a known pixel is marked
/// @param drops         drops(size, marked): whether a region of so many pixels is invalidated
template <class SameSurface, class Marked, class Drops>
void remove_regions(ImageView<float> map, int reach, const SameSurface& same_surface, const Marked& marked,
                    const Drops& drops) {
  if (memory_is_counted()) {  // at most a run a pixel, and a few rows
    const CountedBytes lists(element_count({map.width, map.height, ConnectedRuns::kRunBytes + sizeof(int)}));
    return;
  }
  constexpr int kNone = -1;
  const std::size_t count = count_runs(map, same_surface);
  ConnectedRuns runs(count);
  std::vector<int> ends;  ///< columns after the runs
  ends.reserve(count);
  std::vector<int> run_above(map.width, kNone),
      row_above(map.width);  ///< of the last known pixel of a column
  std::vector<float> above(map.width);
  for (int y = 0; y < map.height; ++y) {
    const float* row = map.row(y);
    int united_above = kNone, united_here = kNone, before = kNone;
    for (int x = 0; x < map.width;) {
      if (std::isnan(row[x])) {
        ++x;
        continue;
      }
      const int begin = x++;
      while (x < map.width && !std::isnan(row[x]) && same_surface(row[x - 1], row[x])) ++x;
      int marks = 0;
      for (int i = begin; i < x; ++i) marks += marked(i, y) ? 1 : 0;
      const int run = runs.add(x - begin, marks);
      if (before != kNone && begin - ends[before] < reach && same_surface(row[ends[before] - 1], row[begin]))
        runs.unite(before, run);
      before = run;
      ends.push_back(x);
      for (int i = begin; i < x; ++i) {
        const int a = run_above[i];
        if (a != kNone && y - row_above[i] <= reach && !(a == united_above && run == united_here) &&
            same_surface(above[i], row[i]))
          runs.unite(united_above = a, united_here = run);
        run_above[i] = run, row_above[i] = y, above[i] = row[i];
      }
    }
  }
  int run = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      if (std::isnan(map(x, y))) continue;
      const int begin = x, end = ends[run];
      x = end - 1;
      const bool dropped = drops(runs.size(run), runs.marked(run));
      ++run;
      if (dropped) std::fill(map.row(y) + begin, map.row(y) + end, kUnknown);
    }
}

/// Invalidates every 4-connected region of fewer than `min_size` pixels of `map`; see remove_regions.
template <class SameSurface>
void remove_small_regions(ImageView<float> map, int min_size, const SameSurface& same_surface) {
  if (min_size <= 1) return;
  remove_regions(
      map, 1, same_surface, [](int, int) { return false; },
      [min_size](int size, int) { return size < min_size; });
}

}  // namespace recon

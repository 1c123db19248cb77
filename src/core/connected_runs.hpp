#pragma once

#include <utility>
#include <vector>

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

}  // namespace recon

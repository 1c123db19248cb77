#pragma once

/// Disjoint sets of numbers as trees: parents[i] is the parent of i, or i itself if that is a root. A set's
/// root is its least number.

namespace recon::cuda {

/// The root of the set of i. Parents only decrease, so one read too early leads there too.
__device__ inline int root_of(const int* parents, int i) {
  for (int parent = parents[i]; parent != i; parent = parents[i]) i = parent;
  return i;
}

/// Unites two sets, also while other threads do: the larger root becomes a child of the smaller one. Source:
/// Y. Komura, GPU-based cluster-labeling algorithm without the use of conventional iteration, Computer
/// Physics Communications, 2015.
__device__ inline void unite(int* parents, int a, int b) {
  while (true) {
    a = root_of(parents, a), b = root_of(parents, b);
    if (a == b) return;
    const int child = max(a, b), parent = min(a, b);
    const int before = atomicMin(parents + child, parent);
    if (before == child) return;
    a = before, b = parent;  // another thread was faster: its tree is united too
  }
}

}  // namespace recon::cuda

#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "match/combine_step.hpp"

namespace recon {

/// Winner-take-all result of a pixel: the plane of min cost (the lowest index on ties, -1 if no plane has a
/// cost), its cost, the costs of its two neighbours, and the min cost of all non-adjacent planes.
struct Winner {
  int plane;
  float cost;
  float before, after;
  float second;
};

/// The result of one pixel; depth is NaN if no plane has a cost.
struct WinnerDepth {
  float depth, cost, confidence;
};

/// Incremental winner-take-all over costs plane by plane, d = 0, 1, ..., without storing them.
struct WinnerScan {
  Winner winner;
  float previous;     ///< cost of plane d - 1
  float min_earlier;  ///< min cost of planes 0 .. d - 2
  int next;           ///< d

  RECON_HD void clear() {
    winner = {-1, invalid_cost(), invalid_cost(), invalid_cost(), invalid_cost()};
    previous = min_earlier = invalid_cost();
    next = 0;
  }
  RECON_HD void push(float cost) {
    if (cost < winner.cost) {
      winner = {next, cost, previous, invalid_cost(), min_earlier};
    } else if (next == winner.plane + 1) {
      winner.after = cost;
    } else if (cost < winner.second) {
      winner.second = cost;
    }
    min_earlier = previous < min_earlier ? previous : min_earlier;
    previous = cost;
    ++next;
  }
};

/// Peak-ratio confidence sqrt(1 - best/second), in [0, 1]: 0 if a non-adjacent plane has the same cost.
RECON_HD float uniqueness(const Winner& w) {
  if (w.plane < 0) return 0.0f;
  if (!(w.second < invalid_cost()) || w.cost <= 0.0f) return w.second > 0.0f ? 1.0f : 0.0f;
  const float ratio = w.cost / w.second;
  return ratio < 1.0f ? sqrtf(1.0f - ratio) : 0.0f;
}

}  // namespace recon

#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "match/combine_step.hpp"

namespace recon {

/// What winner-take-all keeps of a pixel: the plane of least cost (the lowest index on ties, -1 where no
/// plane has a cost), its cost, those of its two neighbours, and the least cost of all planes that are not
/// adjacent to it.
struct Winner {
  int plane;
  float cost;
  float before, after;
  float second;
};

/// Winner-take-all over costs that arrive plane by plane, d = 0, 1, ..., without keeping them.
struct WinnerScan {
  Winner winner;
  float previous;     ///< cost of plane d - 1
  float min_earlier;  ///< least cost of planes 0 .. d - 2
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

/// Peak-ratio confidence sqrt(1 - best/second), in [0, 1]: 0 where another, non-adjacent plane is as good.
RECON_HD float uniqueness(const Winner& w) {
  if (w.plane < 0) return 0.0f;
  if (!(w.second < invalid_cost()) || w.cost <= 0.0f) return w.second > 0.0f ? 1.0f : 0.0f;
  const float ratio = w.cost / w.second;
  return ratio < 1.0f ? sqrtf(1.0f - ratio) : 0.0f;
}

}  // namespace recon

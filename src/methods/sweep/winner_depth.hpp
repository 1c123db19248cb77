#pragma once

#include "core/hd.hpp"
#include "match/warp_step.hpp"
#include "optimize/winner/winner_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

/// The result of one pixel; depth is NaN if no plane has a cost.
struct WinnerDepth {
  float depth, cost, confidence;
};

/// Converts a winning plane to a depth: 1/z at the minimum of the parabola through the neighbouring costs.
RECON_HD WinnerDepth winner_depth(const Winner& winner, const PlaneSet& planes) {
  if (winner.plane < 0) return {__builtin_nanf(""), invalid_cost(), 0.0f};
  const float offset = parabola_offset(winner.before, winner.cost, winner.after);
  const float inverse = inverse_depth(planes, static_cast<float>(winner.plane) + offset);
  return {1.0f / inverse, winner.cost, uniqueness(winner)};
}

}  // namespace recon

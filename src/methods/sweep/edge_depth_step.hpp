#pragma once

#include "core/hd.hpp"
#include "match/warp_step.hpp"
#include "methods/sweep/winner_depth.hpp"
#include "refine/cost_refinement_step.hpp"

namespace recon {

/// The (fractional) plane index of a depth; NaN if unknown.
RECON_HD float plane_of(float depth, const PlaneSet& planes) {
  return (1.0f / depth - planes.inverse_far) / planes.step;
}

/// The discontinuity adjustment (see adjust_discontinuities) of a sweep: a pixel whose depth differs by more
/// than one plane from a neighbour's takes the neighbour's depth if its own cost of that plane is lower.
/// @param own     result of the pixel; unknown depths (NaN) are unchanged
/// @param beside  depths to the left, to the right, above and below, NaN if none
/// @param cost    cost(d): cost of the pixel at plane d, infinite if none
template <class Cost>
RECON_HD WinnerDepth adjusted_depth(const WinnerDepth& own, const float (&beside)[4], const PlaneSet& planes,
                                    const Cost& cost) {
  if (!(own.depth == own.depth)) return own;
  const float plane = plane_of(own.depth, planes);
  Adjustment adjustment{plane, plane, cost(nearest_disparity(plane))};
  WinnerDepth best = own;
  for (int k = 0; k < 4; ++k) {
    const float before = adjustment.min_cost;
    adjustment.offer(plane_of(beside[k], planes), cost);
    if (adjustment.min_cost < before) best = {beside[k], adjustment.min_cost, own.confidence};
  }
  return best;
}

}  // namespace recon

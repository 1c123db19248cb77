#pragma once

#include "core/hd.hpp"
#include "match/warp_step.hpp"
#include "methods/sweep/winner_depth.hpp"
#include "refine/cost_refinement_step.hpp"

namespace recon {

/// The plane that a depth lies on, or where between two; NaN where it is unknown.
RECON_HD float plane_of(float depth, const PlaneSet& planes) {
  return (1.0f / depth - planes.inverse_far) / planes.step;
}

/// The discontinuity adjustment (see adjust_discontinuities) of a sweep: a pixel whose depth is more than a
/// plane from a neighbour's takes the neighbour's where its own cost of that plane is lower.
/// @param own     of the pixel; unknown depths (NaN) stay
/// @param beside  depths to the left, to the right, above and below, NaN where there is none
/// @param cost    cost(d): the pixel's at plane d, infinite where there is none
template <class Cost>
RECON_HD WinnerDepth adjusted_depth(const WinnerDepth& own, const float (&beside)[4], const PlaneSet& planes,
                                    const Cost& cost) {
  if (!(own.depth == own.depth)) return own;
  const float plane = plane_of(own.depth, planes);
  Adjustment adjustment{plane, plane, cost(nearest_disparity(plane))};
  WinnerDepth best = own;
  for (int k = 0; k < 4; ++k) {
    const float before = adjustment.least;
    adjustment.offer(plane_of(beside[k], planes), cost);
    if (adjustment.least < before) best = {beside[k], adjustment.least, own.confidence};
  }
  return best;
}

}  // namespace recon

#pragma once

#include "core/hd.hpp"
#include "match/warp_step.hpp"
#include "methods/hypotheses.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "optimize/winner/winner_step.hpp"
#include "refine/cost_refinement_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

/// Converts a winning plane to a depth: 1/z at the minimum of the parabola through the neighbouring costs.
RECON_HD WinnerDepth winner_depth(const Winner& winner, const Hypotheses& planes) {
  if (winner.plane < 0) return {__builtin_nanf(""), invalid_cost(), 0.0f};
  const float offset = parabola_offset(winner.before, winner.cost, winner.after);
  return {planes.value(winner.plane, offset), winner.cost, uniqueness(winner)};
}

/// Converts the winner of the semi-global optimizer to a depth: sub-plane interpolation by the parabola
/// through the sums, confidence from the sums, cost from the quantized cost of the winning plane. Unknown
/// where no source sees that plane.
/// @param quantized  the quantized cost of the winning plane
RECON_HD WinnerDepth semi_global_depth(const PathWinner& winner, std::uint8_t quantized, float cap,
                                       const Hypotheses& planes) {
  if (quantized >= kInvalidQuantizedCost) return {__builtin_nanf(""), invalid_cost(), 0.0f};
  const Winner sums{winner.plane, path_sum(winner.cost), path_sum(winner.before), path_sum(winner.after),
                    path_sum(winner.second)};
  WinnerDepth result = winner_depth(sums, planes);
  result.cost = dequantized_cost(quantized, cap);
  return result;
}

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

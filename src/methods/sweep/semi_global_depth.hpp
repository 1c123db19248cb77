#pragma once

#include "methods/sweep/winner_depth.hpp"
#include "optimize/semi_global/path_winner.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon {

/// Converts the winner of the semi-global optimizer to a depth: sub-plane interpolation by the parabola
/// through the sums, confidence from the sums, cost from the quantized cost of the winning plane. Unknown
/// where no source sees that plane.
/// @param quantized  the quantized cost of the winning plane
RECON_HD WinnerDepth semi_global_depth(const PathWinner& winner, std::uint8_t quantized, float cap,
                                       const PlaneSet& planes) {
  if (quantized >= kInvalidQuantizedCost) return {__builtin_nanf(""), invalid_cost(), 0.0f};
  const Winner sums{winner.plane, path_sum(winner.cost), path_sum(winner.before), path_sum(winner.after),
                    path_sum(winner.second)};
  WinnerDepth result = winner_depth(sums, planes);
  result.cost = dequantized_cost(quantized, cap);
  return result;
}

}  // namespace recon

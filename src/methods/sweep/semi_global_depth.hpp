#pragma once

#include "methods/sweep/winner_depth.hpp"
#include "optimize/semi_global/path_winner.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon {

/// Converts the winner of the semi-global optimizer to a depth: sub-plane interpolation by the parabola
/// through the sums, confidence from the sums, cost from the quantized cost of the winning plane. Unknown
/// where no source sees that plane.
RECON_HD WinnerDepth semi_global_depth(const PathWinner& winner, std::uint8_t code, float cap,
                                       const PlaneSet& planes) {
  if (code >= kInvalidCode) return {__builtin_nanf(""), invalid_cost(), 0.0f};
  const auto sum = [](std::uint16_t s) { return s == kNoSum ? invalid_cost() : static_cast<float>(s); };
  const Winner sums{winner.plane, static_cast<float>(winner.cost), sum(winner.before), sum(winner.after),
                    sum(winner.second)};
  WinnerDepth result = winner_depth(sums, planes);
  result.cost = coded_cost(code, cap);
  return result;
}

}  // namespace recon

#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "match/combine_step.hpp"

namespace recon {

/// Scanline optimisation; the defaults are those of Mei et al. 2011, table 1 (for costs in [0, 2]).
struct ScanlineOptions {
  float p1 = 1.0f;          ///< Pi1, penalty of a step to an adjacent plane; >= 0
  float p2 = 3.0f;          ///< Pi2, penalty of a larger step; >= p1
  int edge_threshold = 15;  ///< tau_SO: min colour difference of an edge, grey levels
};

/// P1 and P2 of a step.
struct ScanlinePenalties {
  float p1, p2;
};

/// Penalties for an edge in neither, one or both of the two views: Pi, Pi / 4, Pi / 10. Source: X. Mei et al.
/// 2011, section 3.3 (a colour difference of exactly tau_SO counts as an edge).
RECON_HD ScanlinePenalties scanline_penalties(const ScanlineOptions& options, bool edge, bool matched_edge) {
  const float divisor = edge && matched_edge ? 10.0f : (edge || matched_edge ? 4.0f : 1.0f);
  return {options.p1 / divisor, options.p2 / divisor};
}

/// One step of a path (Mei et al. 2011, equation 6):
///   C_r(p, d) = C_1(p, d) + min(C_r(q, d), C_r(q, d - 1) + P1, C_r(q, d + 1) + P1, min_k C_r(q, k) + P2)
///               - min_k C_r(q, k)
/// with q the predecessor of p; at the first pixel of a path, and after a pixel without a cost on any plane,
/// C_r = C_1. Planes outside the range have infinite costs.
/// @param below, above  C_r(q, d - 1) and C_r(q, d + 1)
/// @param min_previous         min_k C_r(q, k)
RECON_HD float scanline_cost(float cost, float same, float below, float above, float min_previous,
                             const ScanlinePenalties& penalties) {
  // The terms that do not depend on the min cost of the previous pixel come first; the order of the minima
  // does not affect the result.
  const float near = fminf(same, fminf(below, above) + penalties.p1);
  const float best = fminf(near, min_previous + penalties.p2);
  return min_previous < invalid_cost() ? cost + (best - min_previous) : cost;
}

}  // namespace recon

#pragma once

#include <cmath>

#include "core/hd.hpp"

namespace recon {

/// min(|a - b|, K), in labels: a metric, so that the graphs of expansion moves have no negative capacities.
RECON_HD float label_distance(int a, int b, int cap) {
  const int difference = a < b ? b - a : a - b;
  return static_cast<float>(difference < cap ? difference : cap);
}

/// w_pq of two neighbours whose grey levels differ by g (0 .. 255): lambda falloff / (falloff + g), since
/// depth edges often coincide with image edges; lambda if falloff is 0. Source: Boykov, Veksler and Zabih,
/// TPAMI 2001, section 8.2 (static cues), with a smooth falloff.
RECON_HD float edge_smoothness(float lambda, int falloff, int difference) {
  if (falloff == 0) return lambda;
  return lambda * static_cast<float>(falloff) / static_cast<float>(falloff + difference);
}

/// The power of two 2^-22 to 2^-21 times `max_cost` (>= 0, finite): for costs up to `max_cost` rounded to
/// multiples of it, sums over all pixels of an image are exact in double. 1 for 0.
inline float energy_step(float max_cost) {
  if (!(max_cost > 0.0f)) return 1.0f;
  int exponent;
  frexpf(max_cost, &exponent);
  exponent = exponent - 22 < -126 ? -126 : exponent - 22;
  return ldexpf(1.0f, exponent);
}

/// The nearest multiple of the energy step, ties to even.
RECON_HD float to_energy(float value, float step) {
  return rintf(value / step) * step;
}

/// The energy, in units of w_pq, of an expansion over one pair of neighbours p, q, where x = 0 keeps a
/// pixel's label and x = 1 takes alpha, up to a constant: p x_p + q x_q + capacity (1 - x_p) x_q.
struct ExpansionPair {
  float p, q, capacity;
};

/// Source: V. Kolmogorov and R. Zabih, TPAMI 2004, section 4.1, E(x_p, x_q) with A = E(0, 0), B = E(0, 1), C
/// = E(1, 0) and E(1, 1) = 0: (C - A) x_p - C x_q + (B + C - A) (1 - x_p) x_q, minus the constant A.
/// @param both  V(f_p, f_q)
/// @param q_alone, p_alone  V(f_p, alpha), V(alpha, f_q)
RECON_HD ExpansionPair expansion_pair(float both, float q_alone, float p_alone) {
  return {p_alone - both, -p_alone, q_alone + p_alone - both};
}

}  // namespace recon

#pragma once

#include <cmath>
#include <cstdint>

#include "core/hd.hpp"

namespace recon {

/// Depths that stay: those outside of [near, far] become unknown, and those that rounding has moved out of
/// [first, last] return.
struct KeptDepths {
  double near = -HUGE_VAL, far = HUGE_VAL;
  float first = -HUGE_VALF, last = HUGE_VALF;

  RECON_HD float of(float depth) const {
    const auto z = static_cast<double>(depth);
    if (!(depth == depth) || z < near || z > far) return NAN;
    const float least = depth > first ? depth : first;
    return least < last ? least : last;
  }
};

/// The standard deviation of `count` grey levels by their sum and that of their squares.
RECON_HD float contrast_of(std::uint64_t sum, std::uint64_t square, double count) {
  const double mean = static_cast<double>(sum) / count;
  const double variance = static_cast<double>(square) / count - mean * mean;
  return static_cast<float>(sqrt(variance > 0.0 ? variance : 0.0));
}

/// Whether two neighbouring depths belong to one patch; unknown ones (NaN) belong to none.
RECON_HD bool same_patch(float a, float b, float max_relative_step) {
  const float difference = a < b ? b - a : a - b;
  return difference <= max_relative_step * (a < b ? a : b);
}

}  // namespace recon

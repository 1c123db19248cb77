#pragma once

#include "core/hd.hpp"

namespace recon {

/// Truncated absolute difference of grey levels as data cost (Felzenszwalb and Huttenlocher 2006, section 5):
///   D(p, d) = lambda min(|I_l(x, y) - I_r(x - d, y)|, tau)
/// and lambda tau / 2 where x - d lies outside the right image: neutral about the disparity.
struct TruncatedDifference {
  float weight;  ///< lambda
  float cap;     ///< tau, grey levels

  RECON_HD float inside(float left, float right) const {
    const float difference = left < right ? right - left : left - right;
    return weight * (difference < cap ? difference : cap);
  }
  RECON_HD float outside() const { return weight * (cap * 0.5f); }
};

}  // namespace recon

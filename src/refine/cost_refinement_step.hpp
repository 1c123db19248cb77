#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "refine/outlier_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

/// Steps of the sub-pixel enhancement in a pixel.
inline constexpr int kSubpixelSteps = 16;

/// A pixel's disparity as the discontinuity adjustment weighs it against those beside it.
struct Adjustment {
  float own;       ///< before
  float adjusted;  ///< of least cost so far
  float least;     ///< that cost

  /// @param cost  cost(d): that of the pixel at disparity d, rounded, infinite where there is no plane
  template <class Cost>
  RECON_HD void offer(float beside, const Cost& cost) {
    const float step = beside < own ? own - beside : beside - own;
    if (!(step > 1.0f)) return;
    const float at = cost(nearest_disparity(beside));
    if (at < least) least = at, adjusted = beside;
  }
};

/// A known disparity with its sub-pixel part, see enhance_subpixel, from the costs of its plane and of those
/// beside it.
RECON_HD float enhanced_disparity(float disparity, float before, float at, float after) {
  const float offset = parabola_offset(before, at, after);
  return disparity + floorf(offset * kSubpixelSteps + 0.5f) / kSubpixelSteps;
}

}  // namespace recon

#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "refine/outlier_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

/// Steps per pixel of the sub-pixel enhancement.
inline constexpr int kSubpixelSteps = 16;

/// State of the discontinuity adjustment of a pixel.
struct Adjustment {
  float own;       ///< disparity before the adjustment
  float adjusted;  ///< disparity of min cost so far
  float min_cost;  ///< min cost so far

  /// @param cost  cost(d): cost of the pixel at disparity d, rounded, infinite outside the planes
  template <class Cost>
  RECON_HD void offer(float beside, const Cost& cost) {
    const float step = beside < own ? own - beside : beside - own;
    if (!(step > 1.0f)) return;
    const float at = cost(nearest_disparity(beside));
    if (at < min_cost) min_cost = at, adjusted = beside;
  }
};

/// A disparity with its sub-pixel part, see enhance_subpixel.
/// @param cost  cost(d): cost of the pixel on plane d, infinite outside the range
template <class Cost>
RECON_HD float enhanced_disparity(float disparity, int min, int planes, const Cost& cost) {
  if (!(disparity == floorf(disparity))) return disparity;
  const int d = nearest_disparity(disparity) - min;
  if (d < 0 || d >= planes) return disparity;
  const float offset = parabola_offset(cost(d - 1), cost(d), cost(d + 1));
  return disparity + floorf(offset * kSubpixelSteps + 0.5f) / kSubpixelSteps;
}

}  // namespace recon

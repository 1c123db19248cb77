#pragma once

#include "core/hd.hpp"
#include "match/combine_step.hpp"

namespace recon {

/// Offset of the minimum of the parabola through three neighbouring costs from the middle plane: (before -
/// after) / (2 (before - 2 at + after)), in [-0.5, 0.5]; 0 if a neighbour has no cost or all three are equal.
RECON_HD float parabola_offset(float before, float at, float after) {
  if (!(before < invalid_cost()) || !(after < invalid_cost())) return 0.0f;
  const float curvature = (before - at) + (after - at);
  if (!(curvature > 0.0f)) return 0.0f;
  const float offset = 0.5f * (before - after) / curvature;
  return offset < -0.5f ? -0.5f : (offset > 0.5f ? 0.5f : offset);
}

}  // namespace recon

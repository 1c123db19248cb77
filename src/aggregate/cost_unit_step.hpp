#pragma once

#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "core/hd.hpp"

namespace recon {

/// Aggregators with running sums first round every cost to an integer multiple of a unit. The sums are then
/// exact in any order: in double for all supports, and in 32 bits for supports of up to kMaxSquareRadius
/// (prefix sums may wrap around). CPU and GPU give the same bits in spite of different summation orders. The
/// error of a mean is at most half a unit, 2^-18 of the maximum cost; integer costs up to 2^18 are not
/// rounded.
struct CostUnit {
  float unit = 1.0f;  ///< a power of two

  /// A float in [offset, 2 offset) counts units in its lowest 23 bits.
  RECON_HD float offset() const { return 0x1p23f * unit; }
  /// The nearest multiple, ties to even, for 0 <= cost < offset(); infinity is unchanged.
  RECON_HD float rounded(float cost) const { return (cost + offset()) - offset(); }
};

/// Max number of units of a cost.
inline constexpr std::uint32_t kCostSteps = 1u << 18;

/// Sums of maximum costs over squares of side 2 kMaxSquareRadius + 1 are below 2^32.
inline constexpr int kMaxSquareRadius = 63;

/// @param max_cost  upper bound of the finite costs; 2^-60 .. 2^60
/// @throws std::logic_error where it is out of range
inline CostUnit cost_unit(float max_cost) {
  EXPECTS(max_cost >= 0x1p-60f && max_cost <= 0x1p60f);
  int exponent = 0;
  const float mantissa = std::frexp(max_cost, &exponent);
  return {std::ldexp(1.0f / static_cast<float>(kCostSteps), mantissa == 0.5f ? exponent - 1 : exponent)};
}

}  // namespace recon

#pragma once

#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "core/hd.hpp"

namespace recon {

/// Aggregators that take running sums round every cost to a whole multiple of a unit first. Their sums are
/// then exact: in any order, in double for every support, and in 32 bits, which may wrap around between
/// prefix sums, for supports of up to kMaxSquareRadius. A CPU and a GPU that add up in different orders give
/// the same bits. A mean is off by half a unit at most, 2^-18 of the greatest cost; whole costs up
/// to 2^18 are not rounded at all.
struct CostUnit {
  float unit = 1.0f;  ///< a power of two

  /// A float from here on, up to twice as much, counts units in its lowest 23 bits.
  RECON_HD float offset() const { return 0x1p23f * unit; }
  /// The nearest multiple, the even one of two, of 0 <= cost < offset(); infinity stays.
  RECON_HD float rounded(float cost) const { return (cost + offset()) - offset(); }
};

/// Units that the greatest cost has at most.
inline constexpr std::uint32_t kCostSteps = 1u << 18;

/// Squares of side 2 kMaxSquareRadius + 1 of the greatest costs have sums below 2^32.
inline constexpr int kMaxSquareRadius = 63;

/// @param greatest  no finite cost is greater; 2^-60 .. 2^60
/// @throws std::logic_error where it is out of range
inline CostUnit cost_unit(float greatest) {
  EXPECTS(greatest >= 0x1p-60f && greatest <= 0x1p60f);
  int exponent = 0;
  const float mantissa = std::frexp(greatest, &exponent);
  return {std::ldexp(1.0f / static_cast<float>(kCostSteps), mantissa == 0.5f ? exponent - 1 : exponent)};
}

}  // namespace recon

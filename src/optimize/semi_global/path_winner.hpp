#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/combine_step.hpp"

namespace recon {

/// The plane of min sum S at a pixel (the lowest one on ties).
struct PathWinner {
  std::uint16_t plane;
  std::uint16_t cost;           ///< S
  std::uint16_t before, after;  ///< S of the adjacent planes; kNoSum outside the range
  std::uint16_t second;         ///< min S of the non-adjacent planes; kNoSum if none
};
inline constexpr std::uint16_t kNoSum = 65535;
inline constexpr std::uint16_t kNoPlane = 65535;

/// A sum as a float, infinity for kNoSum.
RECON_HD float path_sum(std::uint16_t sum) {
  return sum == kNoSum ? invalid_cost() : static_cast<float>(sum);
}

}  // namespace recon

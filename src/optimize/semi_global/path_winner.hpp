#pragma once

#include <cstdint>

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

}  // namespace recon

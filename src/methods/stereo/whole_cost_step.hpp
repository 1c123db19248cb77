#pragma once

#include <cstdint>

#include "core/hd.hpp"

namespace recon {

/// The integer cost of a finite or infinite cost: cost * steps, at most `max`, rounded to nearest, halves up.
RECON_HD std::uint8_t whole_cost(float cost, float steps, float max) {
  const float scaled = cost * steps;
  return static_cast<std::uint8_t>((scaled < max ? scaled : max) + 0.5f);
}

}  // namespace recon

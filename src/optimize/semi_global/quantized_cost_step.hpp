#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/combine_step.hpp"
#include "match/cost_options.hpp"

namespace recon {

/// The quantized cost of a sample that no source sees: the maximum.
inline constexpr int kInvalidQuantizedCost = 127;

/// Cap of a cost of sweeps.
constexpr float cost_cap(CostKind kind) {
  return swept_cost_levels(kind).cap;
}

/// Quantizes the cost of a sweep to seven bits for the semi-global optimizer: 0 .. kInvalidQuantizedCost - 1
/// in uniform steps up to `cap`, rounded to nearest; kInvalidQuantizedCost for infinity.
RECON_HD std::uint8_t quantized_cost(float cost, float cap) {
  if (!(cost < invalid_cost())) return static_cast<std::uint8_t>(kInvalidQuantizedCost);
  constexpr float kSteps = kInvalidQuantizedCost - 1;
  const float capped = cost < cap ? cost : cap;
  return static_cast<std::uint8_t>(capped / cap * kSteps + 0.5f);
}

/// The cost in the middle of a quantization step, infinity for kInvalidQuantizedCost.
RECON_HD float dequantized_cost(std::uint8_t quantized, float cap) {
  return quantized >= kInvalidQuantizedCost
             ? invalid_cost()
             : static_cast<float>(quantized) * cap / (kInvalidQuantizedCost - 1);
}

/// The integer cost of a finite or infinite cost: cost * steps, at most `max`, rounded to nearest, halves up.
RECON_HD std::uint8_t whole_cost(float cost, float steps, float max) {
  const float scaled = cost * steps;
  return static_cast<std::uint8_t>((scaled < max ? scaled : max) + 0.5f);
}

}  // namespace recon

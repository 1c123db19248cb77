#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/combine_step.hpp"
#include "match/sweep_options.hpp"

namespace recon {

/// The code of a sample that no source sees; as dear as the dearest one.
inline constexpr int kInvalidCode = 127;

/// Costs from here on are equally bad: what a chance match reaches.
RECON_HD float cost_cap(CostKind kind) {
  return kind == CostKind::kZncc ? 1.0f : 40.0f;
}

/// The cost of a sweep in seven bits, as the semi-global optimizer takes it: 0 .. kInvalidCode - 1 in equal
/// steps up to `cap`, to the nearest; kInvalidCode for infinity.
RECON_HD std::uint8_t quantized_cost(float cost, float cap) {
  if (!(cost < invalid_cost())) return static_cast<std::uint8_t>(kInvalidCode);
  constexpr float kSteps = kInvalidCode - 1;
  const float capped = cost < cap ? cost : cap;
  return static_cast<std::uint8_t>(capped / cap * kSteps + 0.5f);
}

/// The cost that a code stands for.
RECON_HD float coded_cost(std::uint8_t code, float cap) {
  return code >= kInvalidCode ? invalid_cost() : static_cast<float>(code) * cap / (kInvalidCode - 1);
}

}  // namespace recon

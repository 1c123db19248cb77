#pragma once

#include "match/ad_census_step.hpp"
#include "match/cost_kind.hpp"
#include "match/transform_step.hpp"

namespace recon {

/// The cost source of a method: the kind of cost, and the options of all kinds.
struct CostOptions {
  CostKind kind = CostKind::kZncc;
  // Of a sweep.
  int window = 5;  ///< side of the square window, odd, kMinWindow..kMaxWindow
  Combination combination = Combination::kBestK;
  int best_k = 2;  ///< 1..kMaxBestK; fewer when fewer sources see the sample
  // Of a rectified pair.
  float colour_cap = 20.0f;  ///< of kColourDifference, grey levels, 2^-60 .. 255
  AdCensusOptions ad_census = {};
  TransformOptions transform = {};
  /// Of kTransform: the cost where the match lies outside the other view, 0 .. 255: between the costs of
  /// correct and of random matches, so that such pixels are not biased towards random matches inside.
  int outside_cost = 8;
};

/// Whether it is a cost of sweeps; the others are costs of rectified pairs.
constexpr bool is_swept(CostKind kind) {
  return kind == CostKind::kSad || kind == CostKind::kZncc;
}

/// Upper bound of the cost.
constexpr float max_cost(const CostOptions& cost) {
  const auto larger = [](int a, int b) { return static_cast<float>(a > b ? a : b); };
  switch (cost.kind) {
    case CostKind::kColourDifference:
      return cost.colour_cap < 255.0f ? cost.colour_cap : 255.0f;
    case CostKind::kTransform:
      return larger(max_transform_cost(cost.transform), cost.outside_cost);
    default:
      return cost.kind == CostKind::kSad ? 255.0f : 2.0f;
  }
}

/// Steps per unit of quantized AD-Census costs.
inline constexpr int kAdCensusSteps = 100;

/// Integer steps per unit of a cost of rectified pairs, and the max integer cost; see whole_costs.
constexpr float whole_cost_steps(const CostOptions& cost) {
  return cost.kind == CostKind::kAdCensus ? static_cast<float>(kAdCensusSteps) : 1.0f;
}
constexpr int whole_cost_limit(const CostOptions& cost) {
  const float max = max_cost(cost) * whole_cost_steps(cost);
  const int whole = static_cast<int>(max);
  return static_cast<float>(whole) < max ? whole + 1 : whole;
}

}  // namespace recon

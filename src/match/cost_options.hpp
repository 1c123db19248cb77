#pragma once

#include "match/ad_census_step.hpp"
#include "match/combine_step.hpp"
#include "match/transform_step.hpp"

namespace recon {

/// What images are compared by: two pixels of a rectified pair, or, in a sweep, a reference window and a
/// warped source window.
enum class CostKind {
  kColourDifference,  ///< pairs: mean of |difference| over red, green and blue, truncated
  kAdCensus,          ///< pairs: colour difference plus census, each saturated: 0 .. 2
  kTransform,         ///< pairs: a rank or a census of the grey levels
  kSad,               ///< sweeps: mean absolute difference over the window and the channels, [0, 255]
  kZncc,              ///< sweeps: 1 - zero-mean normalised cross-correlation, [0, 2]; a flat window costs 1
  kBlockDifference,   ///< pairs: |difference| of prefiltered grey levels or its square, of block matching
  kTruncatedDifference,  ///< pairs: |difference| of blurred grey levels, truncated, of belief propagation
};

/// The keyword of a cost, and what it is, for people.
struct CostName {
  const char* keyword;
  CostKind kind;
  const char* meaning;
};
/// The costs of pairs but for transforms, which have keywords of their own.
inline constexpr CostName kColourCostNames[] = {{"ad", CostKind::kColourDifference, "colour difference"},
                                                {"ad-census", CostKind::kAdCensus, "both"}};

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

/// Levels of a cost of sweeps; all 0 for other costs.
struct SweptCostLevels {
  float max = 0;      ///< upper bound
  float cap = 0;      ///< the typical cost of a random match
  float trusted = 0;  ///< the max cost of a depth that is kept, unless another is given
};

/// A cost of sweeps. On a GPU it has a case of cuda::tile_rows and kernels, or is refused.
struct SweptCost {
  const char* keyword;
  CostKind kind;
  const char* meaning;  ///< for people
  SweptCostLevels levels;
  const char* unit;  ///< of the levels, for people; may be empty
  bool correlates;   ///< windows of grey levels; else it sums over their pixels and channels
};
inline constexpr SweptCost kSweptCosts[] = {
    {"zncc", CostKind::kZncc, "normalised cross-correlation", {2.0f, 1.0f, 0.6f}, "", true},
    {"sad", CostKind::kSad, "absolute difference", {255.0f, 40.0f, 15.0f}, "grey levels", false}};

/// Null for other costs.
constexpr const SweptCost* swept_cost(CostKind kind) {
  for (const SweptCost& cost : kSweptCosts)
    if (cost.kind == kind) return &cost;
  return nullptr;
}

constexpr SweptCostLevels swept_cost_levels(CostKind kind) {
  const SweptCost* cost = swept_cost(kind);
  return cost != nullptr ? cost->levels : SweptCostLevels{};
}

constexpr bool correlates(CostKind kind) {
  const SweptCost* cost = swept_cost(kind);
  return cost != nullptr && cost->correlates;
}

/// Whether it is a cost of sweeps; the others are costs of rectified pairs.
constexpr bool is_swept(CostKind kind) {
  return swept_cost(kind) != nullptr;
}

/// Upper bound of the cost.
constexpr float max_cost(const CostOptions& cost) {
  const auto larger = [](int a, int b) { return static_cast<float>(a > b ? a : b); };
  switch (cost.kind) {
    case CostKind::kColourDifference:
      return cost.colour_cap < 255.0f ? cost.colour_cap : 255.0f;
    case CostKind::kAdCensus:
      return 2.0f;
    case CostKind::kTransform:
      return larger(max_transform_cost(cost.transform), cost.outside_cost);
    case CostKind::kSad:
    case CostKind::kZncc:
      return swept_cost_levels(cost.kind).max;
    case CostKind::kBlockDifference:
      return 255.0f * 255.0f;
    case CostKind::kTruncatedDifference:
      return 255.0f;
  }
  return 0.0f;
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

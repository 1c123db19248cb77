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
/// The costs of sweeps, and those of pairs but for transforms, which have keywords of their own.
inline constexpr CostName kSweptCostNames[] = {{"zncc", CostKind::kZncc, "normalised cross-correlation"},
                                               {"sad", CostKind::kSad, "absolute difference"}};
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
  float max;      ///< upper bound
  float cap;      ///< the typical cost of a random match
  float trusted;  ///< the max cost of a depth that is kept, unless another is given
};
constexpr SweptCostLevels swept_cost_levels(CostKind kind) {
  switch (kind) {
    case CostKind::kSad:
      return {255.0f, 40.0f, 15.0f};
    case CostKind::kZncc:
      return {2.0f, 1.0f, 0.6f};
    case CostKind::kColourDifference:
    case CostKind::kAdCensus:
    case CostKind::kTransform:
    case CostKind::kBlockDifference:
    case CostKind::kTruncatedDifference:
      break;
  }
  return {};
}

/// Whether a cost of sweeps correlates windows; else it sums over their pixels.
constexpr bool correlates(CostKind kind) {
  switch (kind) {
    case CostKind::kZncc:
      return true;
    case CostKind::kSad:
    case CostKind::kColourDifference:
    case CostKind::kAdCensus:
    case CostKind::kTransform:
    case CostKind::kBlockDifference:
    case CostKind::kTruncatedDifference:
      break;
  }
  return false;
}

/// Whether it is a cost of sweeps; the others are costs of rectified pairs.
constexpr bool is_swept(CostKind kind) {
  return swept_cost_levels(kind).max > 0;
}

/// The keyword of a cost of sweeps; empty for other costs.
constexpr const char* swept_cost_keyword(CostKind kind) {
  for (const CostName& name : kSweptCostNames)
    if (name.kind == kind) return name.keyword;
  return "";
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

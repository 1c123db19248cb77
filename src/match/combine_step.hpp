#pragma once

#include "core/hd.hpp"

namespace recon {

/// How the costs of the source views are combined.
enum class Combination {
  kMinimum,  ///< the best source (Achten 2025)
  kMean,     ///< all sources that see the sample
  kBestK,    ///< the mean of the K best (Gallup et al. 2007: robust to occlusion)
};

inline constexpr int kMinWindow = 3;
inline constexpr int kMaxWindow = 15;
inline constexpr int kMaxBestK = 8;
inline constexpr int kMaxSources = 32;

/// The cost of a sample that no source sees; stored as half-precision infinity.
RECON_HD float invalid_cost() {
  return __builtin_huge_valf();
}

/// Keeps the K smallest costs in ascending order; K is a compile-time constant so that they stay in
/// registers.
template <int K>
struct BestCosts {
  float cost[K];

  RECON_HD void clear() {
    for (int i = 0; i < K; ++i) cost[i] = invalid_cost();
  }
  RECON_HD void offer(float c) {
    for (int i = 0; i < K; ++i) {
      const float low = c < cost[i] ? c : cost[i];
      c = c < cost[i] ? cost[i] : c;
      cost[i] = low;
    }
  }
  /// The mean of the kept costs, summed in ascending order; invalid when there are none.
  RECON_HD float mean() const {
    float sum = cost[0];
    float count = 1.0f;
    for (int i = 1; i < K; ++i) {
      const bool valid = cost[i] < invalid_cost();
      sum = valid ? sum + cost[i] : sum;
      count = valid ? count + 1.0f : count;
    }
    return sum / count;
  }
};

/// The mean of all costs, summed in the order of the sources.
struct MeanCost {
  float sum, count;

  RECON_HD void clear() { sum = 0.0f, count = 0.0f; }
  RECON_HD void offer(float c) {
    const bool valid = c < invalid_cost();
    sum = valid ? sum + c : sum;
    count = valid ? count + 1.0f : count;
  }
  RECON_HD float mean() const { return count > 0.0f ? sum / count : invalid_cost(); }
};

}  // namespace recon

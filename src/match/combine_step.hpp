#pragma once

#include "core/hd.hpp"
#include "match/cost_kind.hpp"

namespace recon {

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

#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>

#include "core/half.hpp"
#include "core/image.hpp"
#include "core/volume.hpp"
#include "optimize/graph_cut/graph_cut_options.hpp"
#include "optimize/graph_cut/graph_cut_step.hpp"

namespace recon {

/// Key with the same order as the costs; above `max_rank` a cost is not finite.
inline float rank_of(float cost) {
  return cost;
}
inline std::uint16_t rank_of(Half cost) {
  return cost.bits;
}
inline float max_rank(float) {
  return std::numeric_limits<float>::max();
}
inline std::uint16_t max_rank(Half) {
  return kHalfInfinityBits - 1;
}
template <class Cost>
using CostRank = decltype(rank_of(Cost{}));

inline float to_float(float cost) {
  return cost;
}

/// The terms of the energy, rounded to multiples of `step`: see graph_cut.
template <class Cost>
class CutEnergy {
 public:
  /// @param max_cost  maximum of the finite costs
  CutEnergy(VolumeView<const Cost> costs, ImageView<const std::uint8_t> guide, const GraphCutOptions& options,
            float max_cost)
      : costs_(costs), guide_(guide), cap_(options.smoothness_cap) {
    const float max_pair_energy = options.smoothness * static_cast<float>(cap_);
    step_ = energy_step(max_cost > max_pair_energy ? max_cost : max_pair_energy);
    for (int g = 0; g < 256; ++g)
      weights_[g] = to_energy(edge_smoothness(options.smoothness, options.edge_falloff, g), step_);
  }

  int width() const { return costs_.width; }
  int height() const { return costs_.height; }
  int labels() const { return costs_.planes; }
  float step() const { return step_; }
  const Cost* row(int y, int label) const { return costs_.row(y, label); }

  static bool is_allowed(Cost cost) { return rank_of(cost) <= max_rank(cost); }
  float data(Cost cost) const { return to_energy(to_float(cost), step_); }

  /// w_pq of two neighbours.
  float weight(int px, int py, int qx, int qy) const {
    if (guide_.empty()) return weights_[0];
    return weights_[std::abs(guide_(px, py) - guide_(qx, qy))];
  }
  float distance(int a, int b) const { return label_distance(a, b, cap_); }

  /// Upper bound of the energy of the four pairs of a pixel.
  float max_smoothness() const { return 4.0f * weights_[0] * static_cast<float>(cap_); }

 private:
  VolumeView<const Cost> costs_;
  ImageView<const std::uint8_t> guide_;
  int cap_;
  float step_;
  float weights_[256];
};

/// Rows that an expansion may change.
struct RowRange {
  int begin = 0, end = 0;
};

}  // namespace recon

#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/combine_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

/// Thresholds for a reliable winner, in sums over the window.
struct BlockLimits {
  std::uint32_t most_cost;    ///< max cost
  std::uint32_t min_texture;  ///< min sum of |L(x + 1) - L(x - 1)|
  int uniqueness;             ///< per cent; 0: no check
};

inline constexpr std::uint32_t kNoBlockCost = 0xFFFFFFFFu;

/// The best hypothesis of a pixel: the lowest k of min cost.
struct BlockWinner {
  int k;
  std::uint32_t cost;
  std::uint32_t before, after;  ///< costs of k - 1 and k + 1; kNoBlockCost where there is none
  std::uint32_t second;         ///< min cost of hypotheses more than a pixel away; kNoBlockCost if none
};

/// Whether the winner passes the cost and uniqueness thresholds. A winner is not unique if another cost is
/// not `uniqueness` per cent higher: second (100 - uniqueness) < 100 cost (the rule of OpenCV's StereoSGBM).
RECON_HD bool is_trusted(const BlockWinner& w, const BlockLimits& limits) {
  if (w.cost > limits.most_cost) return false;
  if (limits.uniqueness == 0 || w.second == kNoBlockCost) return true;
  return std::uint64_t{w.second} * static_cast<unsigned>(100 - limits.uniqueness) >=
         std::uint64_t{w.cost} * 100u;
}

/// (min steps + k + offset) / steps, with the offset of the parabola through the three costs if `subpixel`.
RECON_HD float block_disparity(const BlockWinner& w, int min, int steps, bool subpixel) {
  const auto cost = [](std::uint32_t sum) {
    return sum == kNoBlockCost ? invalid_cost() : static_cast<float>(sum);
  };
  const float offset = subpixel ? parabola_offset(cost(w.before), cost(w.cost), cost(w.after)) : 0.0f;
  return (static_cast<float>(min * steps + w.k) + offset) / static_cast<float>(steps);
}

/// Assignment key of a left pixel for its matching position in the right image: the lowest key, of min cost
/// and then lowest k, owns the position.
RECON_HD std::uint64_t block_owner_key(std::uint32_t cost, int k) {
  return std::uint64_t{cost} << 16 | static_cast<std::uint16_t>(k);
}

inline constexpr std::uint64_t kUnassigned = ~std::uint64_t{0};

/// Whether hypothesis k of a pixel is within `left_right` pixels of that of the owner of its position in the
/// right image.
RECON_HD bool agrees_with_owner(std::uint64_t owner, int k, int left_right, int steps) {
  const int difference = static_cast<int>(owner & 0xFFFFu) - k;
  return difference <= left_right * steps && -difference <= left_right * steps;
}

/// Side of the next coarser level of the pyramid.
RECON_HD int coarser_size(int size) {
  return (size + 1) / 2;
}

/// Combines the disparity of a pixel with that of the covering pixel of the coarser level; `max_disparity` is
/// the max disparity searched at the finer level.
RECON_HD float finer_or_coarser(float finer, float coarser, float max_disparity) {
  const float doubled = 2.0f * coarser;
  return doubled > max_disparity ? doubled : finer;
}

}  // namespace recon

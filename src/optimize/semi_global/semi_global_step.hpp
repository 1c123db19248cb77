#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/combine_step.hpp"

namespace recon {

/// Semi-global matching; costs and penalties have the same unit.
struct SemiGlobalOptions {
  int paths = 8;  ///< 4 (along rows and columns) or 8 (and the diagonals)
  int p1 = 12;    ///< penalty of a step of one disparity, >= 0
  /// Penalty of a larger step where the image is flat, >= p1. Up to 63, the sums of L - C of one pass fit a
  /// byte, which makes the optimizer faster on the CPU.
  int p2 = 63;
  /// Grey-level difference scale of the falloff of P2; 0: constant P2. At most 65535.
  int p2_falloff = 16;
};

/// Max path cost, costs plus penalties: the sum of 8 fits 16 bits.
inline constexpr int kMaxPathCost = 8191;

/// Directions of the paths, as the step from the previous pixel; with 4 paths the first four.
struct PathStep {
  int x, y;
};
inline constexpr PathStep kPathSteps[8] = {{1, 0}, {-1, 0},  {0, 1},  {0, -1},
                                           {1, 1}, {-1, -1}, {-1, 1}, {1, -1}};

/// P2 for a step between two pixels whose grey levels differ by `difference` (0 .. 255): depth edges often
/// coincide with image edges. Decreases from P2 to just above P1:
///   P2(g) = max(P1 + 1, P2 falloff / (falloff + g)), rounded down; P2 if falloff is 0.
/// Never more than P2 (P1 where P2 = P1). Source: H. Hirschmueller, TPAMI 2008, section 2.3 (P2' / gradient).
RECON_HD int edge_penalty(const SemiGlobalOptions& options, int difference) {
  if (options.p2_falloff == 0) return options.p2;
  const int fallen = options.p2 * options.p2_falloff / (options.p2_falloff + difference);
  const int min_penalty = options.p1 < options.p2 ? options.p1 + 1 : options.p2;
  return fallen > min_penalty ? fallen : min_penalty;
}

/// One step of a path (Hirschmueller 2008, equation 13; Banz et al. 2011, equation 3):
///   L(p, d) = C(p, d) + min(L(q, d), L(q, d - 1) + P1, L(q, d + 1) + P1, min_k L(q, k) + P2) - min_k L(q, k)
/// with q the predecessor of p; at the first pixel of a path L = C; disparities outside the range are omitted
/// from the minimum. Bound: 0 <= L(p, d) <= max C + P2, since min(...) <= min_k L(q, k) + P2.
/// @param below, above  L(q, d - 1) and L(q, d + 1)
/// @param min_previous  min_k L(q, k)
RECON_HD int path_cost(int cost, int same, int below, int above, int min_previous, int p1, int p2) {
  int best = same < min_previous + p2 ? same : min_previous + p2;
  best = below + p1 < best ? below + p1 : best;
  best = above + p1 < best ? above + p1 : best;
  return cost + best - min_previous;
}

/// Whether a winner with the summed cost `best` is not unique: another cost `other`, at a disparity that is
/// not adjacent, is not `percent` per cent higher (the rule of OpenCV's StereoSGBM).
RECON_HD bool is_rival(int best, int other, int percent) {
  return other * (100 - percent) < best * 100;
}

/// The plane of min sum S at a pixel (the lowest one on ties).
struct PathWinner {
  std::uint16_t plane;
  std::uint16_t cost;           ///< S
  std::uint16_t before, after;  ///< S of the adjacent planes; kNoSum outside the range
  std::uint16_t second;         ///< min S of the non-adjacent planes; kNoSum if none
};
inline constexpr std::uint16_t kNoSum = 65535;
inline constexpr std::uint16_t kNoPlane = 65535;

/// A sum as a float, infinity for kNoSum.
RECON_HD float path_sum(std::uint16_t sum) {
  return sum == kNoSum ? invalid_cost() : static_cast<float>(sum);
}

}  // namespace recon

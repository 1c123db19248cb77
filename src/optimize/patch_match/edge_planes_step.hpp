#pragma once

#include <cstdint>

#include "optimize/patch_match/patch_match_step.hpp"

/// Depth edges after the patches. A patch that covers an edge is matched by the texture of the nearer
/// surface, whose plane therefore continues some pixels beyond the edge (foreground fattening). A pixel there
/// looks like the farther surface: it gets the plane of a pixel of that surface, if its grey level is more
/// similar to it than to the nearer surface around. Compared are pixels that lie inside a surface, away from
/// edges. Reads states and writes others, so that all pixels can be done at once.
///
/// Source of the effect: D. Scharstein, R. Szeliski, A taxonomy and evaluation of dense two-frame stereo,
/// IJCV 2002, section 5.

namespace recon {

constexpr float kEdgeRatio = 1.02f;  ///< of the inverse depths on both sides of an edge, at least
constexpr int kEdgeReach = 4;        ///< how far from the farther surface a pixel may get its plane, pixels
/// In which there is no edge around a pixel inside a surface. The nearer surface is shortened by so much, as
/// pixels farther from the edge are inside it themselves.
constexpr int kEdgeMargin = 2;
constexpr int kEdgeRadius = 8;  ///< of the circle in which pixels are compared
constexpr float kMaxInsideCost = 0.6f;
/// The difference of grey levels to the farther surface is lower than that to the nearer one, or than
/// kMaxNearDifference, by kMinEdgeGain at least.
constexpr int kMaxNearDifference = 15, kMinEdgeGain = 3;

/// Whether the inverse depth of a pixel at most `reach` from (x, y) on one of the axes or diagonals fulfils a
/// condition.
template <class Condition>
RECON_HD bool any_around(const PatchStates& states, int x, int y, int reach, const Condition& condition) {
  for (int k = 0; k < 9; ++k) {
    const int dx = k % 3 - 1, dy = k / 3 - 1;
    if (dx == 0 && dy == 0) continue;
    for (int d = 1; d <= reach; ++d)
      if (states.contains(x + d * dx, y + d * dy) && condition(states.at(x + d * dx, y + d * dy).plane.w))
        return true;
  }
  return false;
}

/// Whether a pixel lies inside a surface: its plane matches, and no edge is near.
RECON_HD bool is_inside_surface(const PatchStates& states, int x, int y) {
  const PatchState& own = states.at(x, y);
  const float w = own.plane.w;
  return own.cost <= kMaxInsideCost && !any_around(states, x, y, kEdgeMargin, [&](float other) {
           return other * kEdgeRatio < w || w * kEdgeRatio < other;
         });
}

/// The state of pixel (x, y), or the plane of the farther surface that it looks like; of equally similar
/// pixels the nearest, of these the first in row-major order.
/// @param range   of the inverse depths
/// @param inside  inside(x, y): see is_inside_surface
/// @param grey    grey(x, y) of the reference, 0..255
template <class Inside, class Grey>
RECON_HD PatchState edge_state(const PatchStates& states, int x, int y, const InverseRange& range,
                               const Inside& inside, const Grey& grey) {
  const PatchState own = states.at(x, y);
  const float w = own.plane.w;
  if (!any_around(states, x, y, kEdgeReach, [&](float other) { return other * kEdgeRatio < w; })) return own;
  const int level = grey(x, y);
  int nearer = kMaxNearDifference;
  int farther = kMaxNearDifference << 16;  // the difference, then the squared distance
  PatchState result = own;
  for (int dy = -kEdgeRadius; dy <= kEdgeRadius; ++dy)
    for (int dx = -kEdgeRadius; dx <= kEdgeRadius; ++dx) {
      const int square = dx * dx + dy * dy, i = x + dx, j = y + dy;
      if (square > kEdgeRadius * kEdgeRadius || !states.contains(i, j) || !inside(i, j)) continue;
      const SlantedPlane& plane = states.at(i, j).plane;
      const float here = inverse_depth(plane, static_cast<float>(-dx), static_cast<float>(-dy));
      const int brighter = grey(i, j) - level, difference = brighter < 0 ? -brighter : brighter;
      if (here * kEdgeRatio < w) {
        if ((difference << 16 | square) >= farther || !contains(range, here)) continue;
        farther = difference << 16 | square;
        result = {{here, plane.wx, plane.wy}, states.at(i, j).cost};
      } else if (here < w * kEdgeRatio && difference < nearer) {
        nearer = difference;
      }
    }
  return (farther >> 16) + kMinEdgeGain <= nearer ? result : own;
}

}  // namespace recon

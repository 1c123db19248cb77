#pragma once

#include <cstdint>

#include "optimize/patch_match/patch_match_step.hpp"

/// The planar prior at a pixel: whether its plane is reliable, the plane that reliable pixels around support,
/// and whether the photos contradict that. See fill_supported_planes.

namespace recon {

/// The cost of a plane that its surroundings support instead of its texture.
constexpr float kSupportedCost = 0.5f;

/// A pixel of at most this cost is reliable if the planes of five of eight neighbours predict it to half a
/// pixel of parallax, and unreliable if fewer than two predict it to a pixel. One of a higher cost is
/// unreliable.
constexpr float kReliableCost = 0.3f;
constexpr int kReliableNeighbours = 5, kUnreliableNeighbours = 2;

/// Sources that count for the parallax of a pixel and for the comparison of photos.
constexpr int kParallaxSources = 4, kComparedSources = 8;

/// Directions in which support is looked for, anticlockwise. Three of a triangle around the pixel are i,
/// i + 3 and i + 5: of eight supports with at most two wrong ones at least two of the eight triangles have
/// none.
constexpr int kSupportDirections = 8;
constexpr int kMinSupport = 6;
/// Max steps to a support.
constexpr int kMaxSupportSteps = 200;
/// How far a support may be from the plane, pixels of parallax.
constexpr float kMaxSupportDistance = 0.7f;

/// The photos contradict a plane where the mean level of a patch differs by more than this in more than 0.3
/// of the sources.
constexpr float kMaxDifference = 8.0f, kMaxContradicting = 0.3f;
constexpr int kCompareRadius = 2;

/// A pixel that the photos contradict outweighs nine that they do not: an area is filled if the sum of its
/// pixels' balances is at most 0, so if at most a tenth of it is contradicted.
RECON_HD constexpr int balance(bool contradicted) {
  return contradicted ? 9 : -1;
}

enum class PixelKind : std::uint8_t { kOther, kReliable, kUnreliable };

/// A step in a direction.
RECON_HD int step_x(int direction) {
  const int steps[kSupportDirections] = {1, 1, 0, -1, -1, -1, 0, 1};
  return steps[direction];
}
RECON_HD int step_y(int direction) {
  return step_x((direction + 6) % kSupportDirections);
}

/// The direction of a support of triangle `first`.
/// @param k  0..2
RECON_HD int triangle_direction(int first, int k) {
  return (first + (k == 0 ? 0 : k == 1 ? 3 : 5)) % kSupportDirections;
}

/// The inverse depth that a pixel of parallax is worth at a pixel; 0 where no source sees it.
/// @param speed  maps a source to its parallax at the pixel
template <class Speed>
RECON_HD float parallax_unit(int sources, const Speed& speed) {
  float fastest = 0.0f;
  for (int s = 0; s < sources && s < kParallaxSources; ++s) {
    const float pixels = speed(s);
    fastest = pixels > fastest ? pixels : fastest;
  }
  return fastest > 0.0f ? 1.0f / fastest : 0.0f;
}

/// |a - b|.
RECON_HD float absolute_difference(float a, float b) {
  return a < b ? b - a : a - b;
}

/// @param unit  see parallax_unit
RECON_HD PixelKind pixel_kind(const PatchStates& states, int x, int y, float unit) {
  const PatchState& state = states.at(x, y);
  int near = 0, close = 0;
  for (int direction = 0; direction < kSupportDirections; ++direction) {
    const int dx = 2 * step_x(direction), dy = 2 * step_y(direction);
    if (!states.contains(x + dx, y + dy)) continue;
    const float predicted =
        inverse_depth(states.at(x + dx, y + dy).plane, static_cast<float>(-dx), static_cast<float>(-dy));
    const float difference = absolute_difference(predicted, state.plane.w);
    near += difference < unit;
    close += difference < 0.5f * unit;
  }
  const bool cheap = state.cost <= kReliableCost;
  if (cheap && close >= kReliableNeighbours) return PixelKind::kReliable;
  return (!cheap || near < kUnreliableNeighbours) && unit > 0.0f ? PixelKind::kUnreliable : PixelKind::kOther;
}

/// The nearest reliable pixel in a direction.
struct Support {
  bool found = false;
  float x = 0, y = 0;  ///< offset from the pixel
  float w = 0;         ///< inverse depth
  float unit = 0;      ///< see parallax_unit
};

/// The support `steps` pixels away in a direction; 0: none.
/// @param unit  unit(x, y): parallax_unit of a pixel
template <class Unit>
RECON_HD Support support_at(const PatchStates& states, int x, int y, int direction, int steps,
                            const Unit& unit) {
  if (steps == 0) return {};
  const int dx = steps * step_x(direction), dy = steps * step_y(direction);
  return {true, static_cast<float>(dx), static_cast<float>(dy), states.at(x + dx, y + dy).plane.w,
          unit(x + dx, y + dy)};
}

/// The plane of a pixel through three supports. False if these are nearly in line.
RECON_HD bool plane_through(const Support& a, const Support& b, const Support& c, SlantedPlane& plane) {
  const float bx = b.x - a.x, by = b.y - a.y, cx = c.x - a.x, cy = c.y - a.y;
  const float area = bx * cy - cx * by;
  if (area > -4.0f && area < 4.0f) return false;
  const float bw = b.w - a.w, cw = c.w - a.w;
  const float wx = (bw * cy - cw * by) / area, wy = (bx * cw - cx * bw) / area;
  plane = {a.w - wx * a.x - wy * a.y, wx, wy};
  return true;
}

/// A plane through three supports.
struct SupportedTriangle {
  int first = -1;  ///< direction, see triangle_direction; -1: none
  SlantedPlane plane = {};
  unsigned confirmed = 0;  ///< a bit for each direction whose support lies near the plane
};

/// The triangle whose plane most supports confirm; of equally many the one that is nearest to them. None if
/// no plane has enough.
/// @param supports  by direction
RECON_HD SupportedTriangle best_triangle(const Support (&supports)[kSupportDirections],
                                         const InverseRange& range) {
  SupportedTriangle best;
  int most = kMinSupport - 1;
  float nearest = 0.0f;
  for (int i = 0; i < kSupportDirections; ++i) {
    const Support &a = supports[i], &b = supports[triangle_direction(i, 1)],
                  &c = supports[triangle_direction(i, 2)];
    SupportedTriangle candidate{i};
    if (!(a.found && b.found && c.found) || !plane_through(a, b, c, candidate.plane)) continue;
    if (!contains(range, candidate.plane.w)) continue;
    int count = 0;
    float sum = 0.0f;
    for (int k = 0; k < kSupportDirections; ++k) {
      const Support& s = supports[k];
      if (!s.found) continue;
      const float off = absolute_difference(inverse_depth(candidate.plane, s.x, s.y), s.w) / s.unit;
      if (off < kMaxSupportDistance) ++count, sum += off, candidate.confirmed |= 1u << k;
    }
    if (count < most || (count == most && (best.first < 0 || !(sum < nearest)))) continue;
    best = candidate, most = count, nearest = sum;
  }
  return best;
}

/// Whether in two opposite directions nothing confirms a plane: it may be a strip of sky between two columns.
RECON_HD bool is_unbounded(unsigned confirmed) {
  const unsigned missing = ~confirmed & ((1u << kSupportDirections) - 1);
  return (missing & missing >> kSupportDirections / 2) != 0;
}

/// What a pixel is given by its supports, in a byte: 0 nothing, else the first direction of its triangle + 1,
/// with what speaks against it.
constexpr unsigned kTriangleBits = 0x3F, kUnbounded = 0x40, kContradicted = 0x80;

/// The choice of a pixel with a triangle.
RECON_HD unsigned choice_of(const SupportedTriangle& triangle, bool contradicted) {
  return static_cast<unsigned>(triangle.first + 1) | (is_unbounded(triangle.confirmed) ? kUnbounded : 0u) |
         (contradicted ? kContradicted : 0u);
}
/// The first direction of the triangle of a choice other than 0.
RECON_HD int first_direction(unsigned choice) {
  return static_cast<int>(choice & kTriangleBits) - 1;
}
/// Whether a pixel gets the plane of a choice where its area is filled.
RECON_HD bool is_fillable(unsigned choice) {
  return (choice & kTriangleBits) != 0 && (choice & (kUnbounded | kContradicted)) == 0;
}

/// The index of the pixel nearest to a position in 1/256 pixel.
RECON_HD int nearest_pixel(std::int32_t position) {
  return (position + kSubpixels / 2) >> kSubpixelBits;
}

/// Sums of the levels of pixels in the reference and where a source shows them.
struct Levels {
  std::int64_t reference, source;
};

/// The factor from the levels of a source to those of the reference.
RECON_HD float gain_of(const Levels& sums) {
  return sums.reference > 0 && sums.source > 0
             ? static_cast<float>(sums.reference) / static_cast<float>(sums.source)
             : 1.0f;
}

/// Spacing of the pixels that gains are measured from, in both directions.
constexpr int kGainSpacing = 4;

/// What a pixel contributes to the gain of a source: nothing where its plane is not visible, or the levels
/// differ much.
/// @param photos  photos.warp(s, x, y, plane), reference(x, y), source(s, u, v): levels
template <class Photos>
RECON_HD Levels levels_at(const Photos& photos, int s, int x, int y, const SlantedPlane& plane) {
  constexpr int kMaxLevels = 40;
  const PatchWarp warp = photos.warp(s, x, y, plane);
  if (!warp.visible) return {0, 0};
  const int here = photos.reference(x, y);
  const int there = photos.source(s, nearest_pixel(sample_position(warp.u, 0, 0, 0, 0)),
                                  nearest_pixel(sample_position(warp.v, 0, 0, 0, 0)));
  if (here - there > kMaxLevels || there - here > kMaxLevels) return {0, 0};
  return {here, there};
}

/// Whether the photos contradict a plane, or none shows it.
/// @param photos         as above, and gain(s)
/// @param width, height  of the reference
/// @param sources        at most kComparedSources count
template <class Photos>
RECON_HD bool contradicted(const Photos& photos, int width, int height, int sources, int x, int y,
                           const SlantedPlane& plane) {
  const int left = x < kCompareRadius ? -x : -kCompareRadius;
  const int right = width - 1 - x < kCompareRadius ? width - 1 - x : kCompareRadius;
  const int top = y < kCompareRadius ? -y : -kCompareRadius;
  const int bottom = height - 1 - y < kCompareRadius ? height - 1 - y : kCompareRadius;
  int here = 0;
  for (int dy = top; dy <= bottom; ++dy)
    for (int dx = left; dx <= right; ++dx) here += photos.reference(x + dx, y + dy);
  const float max_difference = kMaxDifference * static_cast<float>((right - left + 1) * (bottom - top + 1));
  int visible = 0, contradicting = 0;
  for (int s = 0; s < sources && s < kComparedSources; ++s) {
    const PatchWarp warp = photos.warp(s, x, y, plane);
    if (!warp.visible) continue;
    int there = 0;
    for (int dy = top; dy <= bottom; ++dy)
      for (int dx = left; dx <= right; ++dx) {
        const int u = nearest_pixel(sample_position(warp.u, dx, dy, warp.ux, warp.uy));
        const int v = nearest_pixel(sample_position(warp.v, dx, dy, warp.vx, warp.vy));
        there += photos.source(s, u, v);
      }
    ++visible;
    contradicting += absolute_difference(static_cast<float>(here),
                                         photos.gain(s) * static_cast<float>(there)) > max_difference;
  }
  return visible == 0 || static_cast<float>(contradicting) > kMaxContradicting * static_cast<float>(visible);
}

/// Whether the plane of the neighbour (dx, dy) before a pixel predicts that of the pixel to a pixel of
/// parallax.
RECON_HD bool connected(const SlantedPlane& before, int dx, int dy, const SlantedPlane& here, float unit) {
  return absolute_difference(inverse_depth(before, static_cast<float>(dx), static_cast<float>(dy)), here.w) <
         unit;
}

}  // namespace recon

#pragma once

#include <cmath>
#include <cstdint>

#include "core/hd.hpp"
#include "match/colour_difference_step.hpp"

namespace recon {

/// Whether the disparity of a pixel is reliable.
enum class Outlier : std::uint8_t { kNone, kOutlier };

/// A pixel's disparity, rounded; it must be known.
RECON_HD int nearest_disparity(float disparity) {
  return static_cast<int>(floorf(disparity + 0.5f));
}

/// The left-right check of a pixel of the left map in column x (Hirschmueller 2008, section 2.6): whether its
/// match lies inside the right map and |D_L(p) - D_R(p - D_L(p))| <= tolerance.
/// @param disparity  D_L(p); false if NaN
/// @param width      columns of the right map
/// @param right      right(x): D_R in column x of the same row
template <class Right>
RECON_HD bool views_agree(float disparity, int x, int width, float tolerance, const Right& right) {
  if (!(disparity == disparity)) return false;
  const int matched = x - nearest_disparity(disparity);
  if (matched < 0 || matched >= width) return false;
  const float other = right(matched);
  return (other < disparity ? disparity - other : other - disparity) <= tolerance;
}

/// Whether the right map contradicts this disparity of a pixel in column x: D_R(p - d) < d - 1, since the
/// pixel would then occlude the surface seen by the right view. There is no contradiction if the right
/// surface is nearer or unknown, or if the match lies outside.
template <class Right>
RECON_HD bool contradicted(float disparity, int x, int width, const Right& right) {
  const int matched = x - nearest_disparity(disparity);
  return matched >= 0 && matched < width && right(matched) < disparity - 1.0f;
}

/// Whether the histogram of a region is decisive: S_p > tau_S and H_p(d*) / S_p > tau_H (Mei et al. 2011,
/// section 3.4).
RECON_HD bool vote_decides(int winner_votes, int votes, int min_votes, float min_share) {
  return votes > min_votes && static_cast<float>(winner_votes) > min_share * static_cast<float>(votes);
}

/// The bin 0 .. count - 1 that a pixel votes for, its disparity - min; -1 if it is an outlier, unknown, or
/// out of range.
RECON_HD int voting_bin(float disparity, Outlier outlier, int min, int count) {
  const bool votes = outlier == Outlier::kNone && disparity > static_cast<float>(min) - 1.0f &&
                     disparity < static_cast<float>(min) + static_cast<float>(count);
  const int bin = votes ? nearest_disparity(disparity) - min : -1;
  return bin < count ? bin : -1;
}

/// Candidate of the interpolation in one direction: a disparity and its dissimilarity.
struct Filling {
  /// Between the colours of the pixel and the outlier; kContradictedFilling if the right map contradicts it,
  /// kNoFilling if there is none.
  int difference;
  float disparity;
};
inline constexpr int kContradictedFilling = 256;  ///< larger than any colour difference
inline constexpr int kNoFilling = 257;

/// The less dissimilar of two candidates, the lower disparity on ties.
RECON_HD Filling better_filling(Filling a, Filling b) {
  const bool takes_b =
      b.difference < a.difference || (b.difference == a.difference && b.disparity < a.disparity);
  return takes_b ? b : a;
}

/// The directions of interpolation: axes, diagonals, and directions in between.
struct SearchStep {
  int x, y;
};
inline constexpr int kSearchDirections = 16;
RECON_HD SearchStep search_step(int direction) {
  constexpr SearchStep kSteps[kSearchDirections] = {{1, 0},  {2, 1},  {1, 1},  {1, 2},   {0, 1},   {-1, 2},
                                                    {-1, 1}, {-2, 1}, {-1, 0}, {-2, -1}, {-1, -1}, {-1, -2},
                                                    {0, -1}, {1, -2}, {1, -1}, {2, -1}};
  return kSteps[direction];
}

}  // namespace recon

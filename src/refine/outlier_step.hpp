#pragma once

#include <cmath>
#include <cstdint>

#include "core/hd.hpp"
#include "match/colour_difference_step.hpp"

namespace recon {

/// What the left-right check finds of a pixel.
enum class Outlier : std::uint8_t {
  kNone,       ///< reliable
  kOcclusion,  ///< no disparity leads to a pixel of the other map that has the same one
  kMismatch,   ///< some disparity does, but not the pixel's own
};

/// A pixel's disparity, rounded; it must be known.
RECON_HD int nearest_disparity(float disparity) {
  return static_cast<int>(floorf(disparity + 0.5f));
}

/// Whether two disparities are known and at most `tolerance` apart.
RECON_HD bool disparities_agree(float a, float b, float tolerance) {
  const float difference = a < b ? b - a : a - b;
  return difference <= tolerance;
}

/// The left-right check of a pixel of the left map in column x (Mei et al. 2011, section 3.4; Hirschmueller
/// 2008, section 2.6): reliable where |D_L(p) - D_R(p - D_L(p))| <= tolerance, else a mismatch where
/// |D_R(p - d) - d| <= tolerance for some d with min <= d < min + count, else an occlusion.
/// @param disparity  D_L(p); NaN is never reliable
/// @param right      right(x): D_R in column x of the same row
/// @param width      columns of the right map
template <class Right>
RECON_HD Outlier outlier_of(float disparity, int x, int width, int min, int count, float tolerance,
                            const Right& right) {
  if (disparity == disparity) {
    const int matched = x - nearest_disparity(disparity);
    if (matched >= 0 && matched < width && disparities_agree(right(matched), disparity, tolerance))
      return Outlier::kNone;
  }
  for (int d = min; d < min + count; ++d) {
    const int matched = x - d;
    if (matched < 0 || matched >= width) continue;
    if (disparities_agree(right(matched), static_cast<float>(d), tolerance)) return Outlier::kMismatch;
  }
  return Outlier::kOcclusion;
}

/// Whether the right map contradicts that a pixel in column x has this disparity: D_R(p - d) < d - 1, for the
/// right view would then see it in front of what it shows there. What the view shows nearer, or does not
/// know, or would lie outside, contradicts nothing.
template <class Right>
RECON_HD bool contradicted(float disparity, int x, int width, const Right& right) {
  const int matched = x - nearest_disparity(disparity);
  return matched >= 0 && matched < width && right(matched) < disparity - 1.0f;
}

/// Whether a histogram of a region decides: S_p > tau_S and H_p(d*) / S_p > tau_H (Mei et al. 2011,
/// section 3.4).
RECON_HD bool vote_decides(int most, int votes, int min_votes, float min_share) {
  return votes > min_votes && static_cast<float>(most) > min_share * static_cast<float>(votes);
}

/// What a pixel votes for among disparities min <= d < min + count: its own, as a bin 0 .. count - 1; -1
/// where it is an outlier, unknown, or out of range.
RECON_HD int voting_bin(float disparity, Outlier outlier, int min, int count) {
  const bool votes = outlier == Outlier::kNone && disparity > static_cast<float>(min) - 1.0f &&
                     disparity < static_cast<float>(min) + static_cast<float>(count);
  const int bin = votes ? nearest_disparity(disparity) - min : -1;
  return bin < count ? bin : -1;
}

/// What interpolation finds in one direction: a disparity, and how little it suits.
struct Filling {
  int difference;  ///< of colours, or kContradictedFilling; kNoFilling where there is nothing
  float disparity;
};
inline constexpr int kContradictedFilling = 256;  ///< more than any difference of colours
inline constexpr int kNoFilling = 257;

/// The difference that counts for a reliable pixel's disparity: between its colour and that of the outlier,
/// where the right map does not contradict; without a right map an occlusion takes any colour.
RECON_HD int filling_difference(Outlier outlier, bool has_right, bool is_contradicted, Rgb8 own, Rgb8 other) {
  if (!has_right && outlier == Outlier::kOcclusion) return 0;
  return is_contradicted ? kContradictedFilling : max_difference(own, other);
}

/// The one of two fillings that is less different, the lower disparity on ties.
RECON_HD Filling better_filling(Filling a, Filling b) {
  const bool takes_b =
      b.difference < a.difference || (b.difference == a.difference && b.disparity < a.disparity);
  return takes_b ? b : a;
}

/// The directions of interpolation: along the axes, the diagonals, and between these.
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

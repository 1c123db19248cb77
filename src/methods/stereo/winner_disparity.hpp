#pragma once

#include "core/hd.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "refine/outlier_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

/// How the winner of a pixel becomes a disparity.
struct WinnerChecks {
  int uniqueness = 0;     ///< min cost margin of non-adjacent disparities, per cent; 0: no check
  int left_right = -1;    ///< max difference between both views' winners, pixels; -1: no check
  bool subpixel = false;  ///< parabola through the three costs
};

/// The disparity of a winner with its sub-pixel part, by the parabola through the sums.
RECON_HD float subpixel_disparity(const PathWinner& winner, int min_disparity) {
  return static_cast<float>(min_disparity + winner.plane) +
         parabola_offset(path_sum(winner.before), path_sum(winner.cost), path_sum(winner.after));
}

/// The disparity of the left pixel in column x from its winner, with sub-pixel part if `subpixel` is set; NaN
/// if the winner is not unique or, with a left-right check, if the right image's winner differs (see
/// views_agree).
/// @param right_plane  right_plane(x): plane of the winner at the right image's pixel x of the same row,
///                     kNoPlane if none
template <class RightPlane>
RECON_HD float winner_disparity(const WinnerChecks& checks, int min_disparity, int width, int x,
                                const PathWinner& winner, const RightPlane& right_plane) {
  const float unknown = invalid_cost() - invalid_cost();
  if (checks.uniqueness > 0 && winner.second != kNoSum &&
      is_rival(winner.cost, winner.second, checks.uniqueness))
    return unknown;
  const float disparity = static_cast<float>(min_disparity + winner.plane);
  const auto right_disparity = [&](int column) {
    return static_cast<float>(min_disparity + static_cast<int>(right_plane(column)));
  };
  if (checks.left_right >= 0 &&
      !views_agree(disparity, x, width, static_cast<float>(checks.left_right), right_disparity))
    return unknown;
  return checks.subpixel ? subpixel_disparity(winner, min_disparity) : disparity;
}

}  // namespace recon

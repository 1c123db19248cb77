#pragma once

#include "core/hd.hpp"
#include "match/transform_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "refine/outlier_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

/// Options of semi-global matching besides the optimizer's.
struct SemiGlobalPairOptions {
  TransformOptions transform;
  SemiGlobalOptions optimizer;
  /// Cost of a disparity whose match lies outside the right image: between the costs of correct and of random
  /// matches, so that such pixels are not biased towards random matches inside.
  int outside_cost = 8;
  int uniqueness = 5;    ///< min cost margin of non-adjacent disparities, per cent; 0: no check
  int left_right = 1;    ///< max difference between both views' winners, pixels; -1: no check
  bool subpixel = true;  ///< parabola through the three costs
  bool median = true;    ///< 3 x 3
};

/// The max cost of a disparity.
constexpr int max_pair_cost(const SemiGlobalPairOptions& options) {
  const int max = max_transform_cost(options.transform);
  return max > options.outside_cost ? max : options.outside_cost;
}

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
RECON_HD float winner_disparity(const SemiGlobalPairOptions& options, int min_disparity, int width, int x,
                                const PathWinner& winner, const RightPlane& right_plane) {
  const float unknown = invalid_cost() - invalid_cost();
  if (options.uniqueness > 0 && winner.second != kNoSum &&
      is_rival(winner.cost, winner.second, options.uniqueness))
    return unknown;
  const float disparity = static_cast<float>(min_disparity + winner.plane);
  const auto right_disparity = [&](int column) {
    return static_cast<float>(min_disparity + static_cast<int>(right_plane(column)));
  };
  if (options.left_right >= 0 &&
      !views_agree(disparity, x, width, static_cast<float>(options.left_right), right_disparity))
    return unknown;
  return options.subpixel ? subpixel_disparity(winner, min_disparity) : disparity;
}

}  // namespace recon

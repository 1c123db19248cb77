#pragma once

#include "core/hd.hpp"
#include "methods/stereo/semi_global_pair_options.hpp"
#include "optimize/semi_global/path_winner.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "refine/subplane_step.hpp"

namespace recon {

RECON_HD float path_sum(std::uint16_t sum) {
  return sum == kNoSum ? invalid_cost() : static_cast<float>(sum);
}

/// The disparity of the left pixel in column x from its winner, with sub-pixel part if `subpixel` is set; NaN
/// if the winner is not unique, if its match lies outside the right image of `width` columns, or if the right
/// image's winner differs (the latter two only with a left-right check).
/// @param right_plane  right_plane(x): plane of the winner at the right image's pixel x of the same row
template <class RightPlane>
RECON_HD float winner_disparity(const SemiGlobalPairOptions& options, int min_disparity, int width, int x,
                                const PathWinner& winner, const RightPlane& right_plane) {
  const float unknown = invalid_cost() - invalid_cost();
  if (options.uniqueness > 0 && winner.second != kNoSum &&
      is_rival(winner.cost, winner.second, options.uniqueness))
    return unknown;
  if (options.left_right >= 0) {
    const int matched = x - min_disparity - winner.plane;
    if (matched < 0 || matched >= width) return unknown;
    const int difference = static_cast<int>(right_plane(matched)) - winner.plane;
    if ((difference < 0 ? -difference : difference) > options.left_right) return unknown;
  }
  const float disparity = static_cast<float>(min_disparity + winner.plane);
  if (!options.subpixel) return disparity;
  return disparity + parabola_offset(path_sum(winner.before), path_sum(winner.cost), path_sum(winner.after));
}

}  // namespace recon

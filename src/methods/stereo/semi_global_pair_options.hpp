#pragma once

#include "match/transform_options.hpp"
#include "optimize/semi_global/semi_global_options.hpp"

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

}  // namespace recon

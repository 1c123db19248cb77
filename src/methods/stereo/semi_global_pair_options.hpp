#pragma once

#include "match/transform_options.hpp"
#include "optimize/semi_global/semi_global_options.hpp"

namespace recon {

/// What semi-global matching does beside the optimizer.
struct SemiGlobalPairOptions {
  TransformOptions transform;
  SemiGlobalOptions optimizer;
  /// Cost of a disparity whose pixel lies outside the right image: between those of right and of random
  /// matches, so that pixels whose match is outside are not drawn to chance matches inside.
  int outside_cost = 8;
  int uniqueness = 5;    ///< per cent that non-adjacent disparities have to be dearer; 0: no check
  int left_right = 1;    ///< greatest difference between both views' winners, pixels; -1: no check
  bool subpixel = true;  ///< parabola through the three costs
  bool median = true;    ///< 3 x 3
};

/// The greatest cost of a disparity.
constexpr int max_pair_cost(const SemiGlobalPairOptions& options) {
  const int greatest = max_transform_cost(options.transform);
  return greatest > options.outside_cost ? greatest : options.outside_cost;
}

}  // namespace recon

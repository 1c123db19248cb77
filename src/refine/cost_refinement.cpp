#include "refine/cost_refinement.hpp"

#include <cmath>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/combine_step.hpp"
#include "refine/cost_refinement_step.hpp"

namespace recon {

namespace {

bool fits(ImageView<const float> disparity, VolumeView<const float> costs) {
  return disparity.width == costs.width && disparity.height == costs.height && costs.planes >= 1;
}

/// The cost of plane d, infinite outside the range.
float cost_at(VolumeView<const float> costs, int x, int y, int d) {
  return d >= 0 && d < costs.planes ? costs(x, y, d) : invalid_cost();
}

}  // namespace

Image<float> adjust_discontinuities(ImageView<const float> disparity, VolumeView<const float> costs,
                                    int min) {
  EXPECTS(fits(disparity, costs));
  Image<float> adjusted(disparity.width, disparity.height);
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x) {
      const float own = disparity(x, y);
      adjusted(x, y) = own;
      if (std::isnan(own)) continue;
      const auto cost = [&](int d) { return cost_at(costs, x, y, d - min); };
      Adjustment adjustment{own, own, cost(nearest_disparity(own))};
      const auto offer = [&](int i, int j) {
        if (disparity.contains(i, j)) adjustment.offer(disparity(i, j), cost);
      };
      offer(x - 1, y), offer(x + 1, y), offer(x, y - 1), offer(x, y + 1);
      adjusted(x, y) = adjustment.adjusted;
    }
  });
  return adjusted;
}

void enhance_subpixel(ImageView<float> disparity, VolumeView<const float> costs, int min) {
  EXPECTS(fits(disparity, costs));
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x)
      disparity(x, y) = enhanced_disparity(disparity(x, y), min, costs.planes,
                                           [&](int d) { return cost_at(costs, x, y, d); });
  });
}

}  // namespace recon

#pragma once

#include <algorithm>

#include "core/image.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "reference/semi_global_reference.hpp"

/// The steps of production code in plain loops, single thread: vector and CUDA code must give the same bits.

namespace recon::steps {

/// L(p, d) of one direction by path_cost.
inline reference::IntVolume path_costs(const reference::IntVolume& costs, ImageView<const std::uint8_t> guide,
                                       const SemiGlobalOptions& options, PathStep step) {
  constexpr int kNoCost = 1 << 24;
  reference::IntVolume paths(costs.width, costs.height, costs.planes);
  for (int j = 0; j < costs.height; ++j)
    for (int i = 0; i < costs.width; ++i) {
      const int x = step.x < 0 ? costs.width - 1 - i : i, y = step.y < 0 ? costs.height - 1 - j : j;
      const int qx = x - step.x, qy = y - step.y;
      const bool begins = !guide.contains(qx, qy);
      int min_previous = begins ? 0 : kNoCost;
      for (int d = 0; d < costs.planes && !begins; ++d)
        min_previous = std::min(min_previous, paths(qx, qy, d));
      const int p2 = begins ? 0 : edge_penalty(options, std::abs(guide(x, y) - guide(qx, qy)));
      for (int d = 0; d < costs.planes; ++d) {
        const auto previous = [&](int k) {
          return k < 0 || k >= costs.planes ? kNoCost : begins ? 0 : paths(qx, qy, k);
        };
        paths(x, y, d) = path_cost(costs(x, y, d), previous(d), previous(d - 1), previous(d + 1),
                                   min_previous, options.p1, p2);
      }
    }
  return paths;
}

/// S(p, d): the sums over all directions.
inline reference::IntVolume path_sums(const reference::IntVolume& costs, ImageView<const std::uint8_t> guide,
                                      const SemiGlobalOptions& options) {
  reference::IntVolume sums(costs.width, costs.height, costs.planes);
  for (int k = 0; k < options.paths; ++k) {
    const reference::IntVolume paths = path_costs(costs, guide, options, kPathSteps[k]);
    for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i] += paths.values[i];
  }
  return sums;
}

}  // namespace recon::steps

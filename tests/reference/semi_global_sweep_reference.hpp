#pragma once

#include <cmath>
#include <limits>

#include "reference/plane_sweep_reference.hpp"
#include "reference/semi_global_reference.hpp"

namespace recon::reference {

/// The result of the semi-global optimizer for a whole view, or for a block (tile) cut out of one: costs
/// quantized to 126 levels, all volumes stored.
inline DepthEstimate path_estimate(const SweepProblem& problem) {
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  const int planes = problem.planes.count;
  const double cap = problem.options.cost == CostKind::kZncc ? 1.0 : 40.0;
  const Volume<Half> volume = sweep_volume(problem);
  IntVolume codes(width, height, planes);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int d = 0; d < planes; ++d) {
        const double cost = static_cast<double>(to_float(volume.view()(x, y, d)));
        codes(x, y, d) =
            std::isinf(cost) ? 127 : static_cast<int>(std::floor(std::min(cost, cap) / cap * 126 + 0.5));
      }
  const IntVolume sums = summed_path_costs(codes, problem.reference.channel[0], problem.paths.penalties);
  DepthEstimate estimate{Image<float>(width, height), Image<float>(width, height),
                         Image<float>(width, height)};
  const auto known = [](int sum) {
    return sum < 0 ? std::numeric_limits<float>::infinity() : static_cast<float>(sum);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const IntWinner w = winner_of(sums, x, y);
      const int code = codes(x, y, w.plane);
      const WinnerDepth depth = winner_depth(
          {w.plane, known(w.cost), known(w.before), known(w.after), known(w.second)}, problem.planes);
      const bool seen = code < 127;
      estimate.depth(x, y) = seen ? depth.depth : std::numeric_limits<float>::quiet_NaN();
      estimate.cost(x, y) = seen ? static_cast<float>(code) * static_cast<float>(cap) / 126.0f
                                 : std::numeric_limits<float>::infinity();
      estimate.confidence(x, y) = seen ? depth.confidence : 0.0f;
    }
  return estimate;
}

}  // namespace recon::reference

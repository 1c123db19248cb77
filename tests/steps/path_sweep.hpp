#pragma once

#include "methods/sweep/depth_step.hpp"
#include "steps/path_sums.hpp"
#include "steps/plane_sweep.hpp"

namespace recon::steps {

/// The semi-global optimizer over a whole view, or over a block cut out of one, with all volumes stored.
inline DepthEstimate path_estimate(const SweepProblem& problem) {
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  const float cap = cost_cap(problem.cost.kind);
  const Volume<Half> volume = sweep_volume(problem);
  reference::IntVolume costs(width, height, problem.planes.count);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int d = 0; d < costs.planes; ++d)
        costs(x, y, d) = quantized_cost(to_float(volume.view()(x, y, d)), cap);
  const reference::IntVolume sums = path_sums(costs, problem.reference.channel[0], problem.semi_global);
  DepthEstimate estimate = uninitialised_estimate(width, height);
  const auto stored = [](int sum) { return sum < 0 ? kNoSum : static_cast<std::uint16_t>(sum); };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const reference::IntWinner w = reference::winner_of(sums, x, y);
      const WinnerDepth result =
          semi_global_depth({static_cast<std::uint16_t>(w.plane), stored(w.cost), stored(w.before),
                             stored(w.after), stored(w.second)},
                            static_cast<std::uint8_t>(costs(x, y, w.plane)), cap, problem.planes);
      estimate.depth(x, y) = result.depth;
      estimate.cost(x, y) = result.cost;
      estimate.confidence(x, y) = result.confidence;
    }
  return estimate;
}

}  // namespace recon::steps

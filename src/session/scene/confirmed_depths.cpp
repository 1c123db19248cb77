#include "session/scene/confirmed_depths.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "fuse/reliability.hpp"

namespace recon {

ViewDepth thinned(const ViewDepth& maps, const Pinhole& small, int factor) {
  ViewDepth result = uninitialised_view(small.width, small.height);
  for (int y = 0; y < small.height; ++y)
    for (int x = 0; x < small.width; ++x) {
      const int u = x * factor + factor / 2, v = y * factor + factor / 2;
      result.depth(x, y) = maps.depth(u, v);
      result.normal(x, y) = maps.normal(u, v);
      result.confidence(x, y) = maps.confidence(u, v);
    }
  return result;
}

ConfirmedDepths confirmed_depths(
    ImageView<const float> depth, std::size_t sources, const CheckSettings& settings,
    const std::function<Image<Agreement>(const ConsistencyOptions&)>& count_agreement) {
  ConsistencyOptions consistency = settings.consistency;  // as of the check, of the sources that are asked
  consistency.min_views = std::min(consistency.min_views, std::max(1, static_cast<int>(sources)));
  const Image<Agreement> said = count_agreement(consistency);
  ConfirmedDepths result{Image<float>(depth.width, depth.height, kUnknown),
                         Image<float>(depth.width, depth.height, 0)};
  const Image<float> variation = inverse_depth_variation(depth);
  parallel_for(depth.height, [&](int y) {
    for (int x = 0; x < depth.width; ++x) {
      const float reliable = reliability(said(x, y), variation(x, y));
      if (said(x, y).agree == 0 || !keeps_depth(said(x, y), reliable, consistency, settings.min_reliability))
        continue;
      result.depth(x, y) = depth(x, y);
      result.reliability(x, y) = reliable;
    }
  });
  return result;
}

}  // namespace recon

#include "session/plan/plan_pairs.hpp"

#include <algorithm>

namespace recon {

std::vector<ViewPair> plan_pairs(const ScenePlan& plan, int view, PairMethod method, std::string& refusal) {
  const ViewPlan& it = plan.view(view);
  std::vector<ViewPair> pairs;
  for (const int source : it.sources) {
    const Rectification result =
        rectify(it.camera, plan.scene_view(view).cam_from_world, plan.view(source).camera,
                plan.scene_view(source).cam_from_world, it.range, pair_limits(method));
    if (result.pair)
      pairs.push_back({source, *result.pair});
    else if (refusal.empty())
      refusal = plan.name(source) + ": " + result.refusal;
  }
  return pairs;
}

PairDepthOptions pair_depth_options(const SessionOptions& options) {
  PairDepthOptions result;
  result.matching = options.pair.matching;
  result.matching.method = pair_method(options.method_of(false));
  result.speckle_size = options.filter.speckle_size;
  result.median = options.filter.median;
  return result;
}

WorkMemory pairs_memory(const ViewPlan& view, const SessionOptions& options, const Backend& backend) {
  WorkMemory most;
  PairOptions matching = pair_depth_options(options).matching;
  for (const ViewPair& it : view.pairs) {
    matching.range = {it.pair.min_disparity, it.pair.disparities};
    const WorkMemory one = backend.pair_memory(it.pair.left.width, it.pair.left.height, matching);
    most.host_bytes = std::max(most.host_bytes, one.host_bytes);
    most.device_bytes = std::max(most.device_bytes, one.device_bytes);
    most.tiles = std::max(most.tiles, one.tiles);
  }
  return most;
}

}  // namespace recon

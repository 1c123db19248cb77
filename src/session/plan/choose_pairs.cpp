#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scene/rectification.hpp"
#include "session/plan/plan.hpp"

namespace recon {

namespace {

/// Rectifies `view` with its sources, in their order.
/// @param refusal  set where there is no pair: why the first source cannot be rectified
std::vector<ViewPair> plan_pairs(const ScenePlan& plan, int view, const RectifyLimits& limits,
                                 std::string& refusal) {
  const ViewPlan& it = plan.view(view);
  std::vector<ViewPair> pairs;
  for (const int source : it.sources) {
    const Rectification result =
        rectify(it.camera, plan.scene_view(view).cam_from_world, plan.view(source).camera,
                plan.scene_view(source).cam_from_world, it.range, limits);
    if (result.pair)
      pairs.push_back({source, *result.pair});
    else if (refusal.empty())
      refusal = plan.name(source) + ": " + result.refusal;
  }
  return pairs;
}

}  // namespace

void choose_pairs(const MatchingSettings& matching, ScenePlan& plan) {
  const RectifyLimits limits = pair_limits(matching.spec);
  std::vector<std::string> refusals(plan.views.size());
  parallel_for(static_cast<int>(plan.views.size()),
               [&](int i) { plan.views[i].pairs = plan_pairs(plan, i, limits, refusals[i]); });
  const auto has_pair = [](const ViewPlan& view) { return !view.pairs.empty(); };
  const bool none = std::ranges::none_of(plan.views, has_pair);
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    if (has_pair(plan.views[i]) || refusals[i].empty()) continue;
    const std::string& name = plan.scene.views[i].name;
    if (none)
      throw InputError("no two views make a rectified pair, such as " + name + " with " + refusals[i] +
                       "; --method planesweep takes views anywhere");
    plan.warnings.push_back(name + ": it makes no rectified pair with any other view (" + refusals[i] +
                            "); it gets no depth map: --method planesweep takes views anywhere");
  }
}

PairDepthOptions pair_depth_options(const MatchingSettings& matching) {
  PairDepthOptions result;
  result.matching = matching.spec;
  result.speckle_size = matching.filter.speckle_size;
  result.median = matching.filter.median;
  return result;
}

}  // namespace recon

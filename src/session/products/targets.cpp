#include "session/products/targets.hpp"

namespace recon {

bool Targets::does(Step step) const {
  if (step == Step::kPrepare) return true;
  if (step == Step::kEstimate) return estimates;
  if ((step == Step::kPlanes && !planes) || (step == Step::kTiles && !tiles) ||
      (step == Step::kExport && !exported))
    return false;
  return checks;
}

std::vector<int> Targets::views_of(Step step, const ScenePlan& plan) const {
  if (!does(step)) return {};
  if (step == Step::kPrepare) return plan.needed_views();
  return step == Step::kEstimate ? plan.active_views() : plan.views_in_scope();
}

}  // namespace recon

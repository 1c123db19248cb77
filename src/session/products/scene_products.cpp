#include "session/products/scene_products.hpp"

#include "core/log.hpp"

namespace recon {

SceneProducts::SceneProducts(const ScenePlan& scene_plan, Workspace output, std::filesystem::path images,
                             const MatchingSettings& matching, bool overwrite)
    : plan(scene_plan),
      workspace(std::move(output)),
      photos(std::move(images), matching.colour, matching.levels(), 0),
      results(workspace, overwrite),
      maps(workspace) {}

void log_kept(const SceneProducts& products, Step step, const std::vector<int>& views) {
  const char* const name = step_name(step);
  int kept = 0, stale = 0, first = 0;
  for (const int view : views) {
    kept += products.results.kept(products.key(step, view)) ? 1 : 0;
    const std::string reason = products.results.reason(products.key(step, view));
    if (reason.empty()) continue;
    if (stale++ == 0) first = view;
    messages().debug("{}: {} is done again: {}", name, products.plan.name(view), reason);
  }
  if (kept > 0) messages().info("{}: {} of {} views are finished and kept", name, kept, views.size());
  if (stale == 0) return;
  const std::string &view = products.plan.name(first),
                    reason = products.results.reason(products.key(step, first));
  if (stale == 1)
    messages().info("{}: the stale view {} is done again: {}", name, view, reason);
  else
    messages().info("{}: {} stale views are done again, such as {}: {}", name, stale, view, reason);
}

}  // namespace recon

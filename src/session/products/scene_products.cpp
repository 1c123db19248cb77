#include "session/products/scene_products.hpp"

#include <utility>

#include "core/log.hpp"

namespace recon {

SceneProducts::SceneProducts(const ScenePlan& scene_plan, Workspace output, std::filesystem::path images,
                             const MatchingSettings& matching, bool overwrite)
    : plan(scene_plan),
      workspace(std::move(output)),
      photos(std::move(images), matching.colour, matching.levels(), 0),
      results(workspace, overwrite),
      maps(workspace) {}

double SceneProducts::known_share(Step step, int view) const {
  const StepRecord* const record = result(step, view);
  return record ? record->result.value("known", 0.0) : 0;
}

std::vector<int> SceneProducts::views_with(Step step) const {
  std::vector<int> views = plan.views_in_scope();
  std::erase_if(views, [&](int view) { return result(step, view) == nullptr; });
  return views;
}

void log_kept(const SceneProducts& products, Step step, const std::vector<int>& views, bool afterwards) {
  int kept = 0;
  for (const int view : views) kept += products.results.kept(products.key(step, view)) ? 1 : 0;
  if (kept > 0)
    messages().info("{}: {} of {} views {} finished and kept", step_name(step), kept, views.size(),
                    afterwards && kept < std::ssize(views) ? "were" : "are");
}

void StaleNotice::add(int view) {
  const std::string reason = products_.results.reason(products_.key(step_, view));
  if (reason.empty()) return;
  const std::string& name = products_.plan.name(view);
  messages().debug("{}: {} is done again: {}", step_name(step_), name, reason);
  const std::lock_guard lock(mutex_);
  if (std::exchange(said_, true)) return;
  messages().info("{}: stale views are done again, such as {}: {}", step_name(step_), name, reason);
}

void StaleNotice::add_all(const std::vector<int>& views) {
  std::vector<int> stale = views;
  std::erase_if(stale,
                [&](int view) { return products_.results.reason(products_.key(step_, view)).empty(); });
  if (stale.empty()) return;
  const std::string &first = products_.plan.name(stale.front()),
                    reason = products_.results.reason(products_.key(step_, stale.front()));
  {
    const std::lock_guard lock(mutex_);
    said_ = true;
  }
  if (stale.size() == 1)
    messages().info("{}: the stale view {} is done again: {}", step_name(step_), first, reason);
  else
    messages().info("{}: {} stale views are done again, such as {}: {}", step_name(step_), stale.size(),
                    first, reason);
  for (const int view : stale) add(view);
}

}  // namespace recon

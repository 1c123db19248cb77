#include "session/products/scene_products.hpp"

#include <algorithm>
#include <functional>

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

std::vector<StaleViews> stale_views(const SceneProducts& products, Step step, const std::vector<int>& views) {
  std::vector<StaleViews> stale;
  std::map<std::string, std::size_t> place_of;  // of a kind
  for (const int view : views)
    for (const auto& [kind, text] : products.results.causes(products.key(step, view))) {
      const auto [place, added] = place_of.emplace(kind, stale.size());
      if (added) stale.push_back({text, {}});
      std::vector<int>& of_cause = stale[place->second].views;
      if (of_cause.empty() || of_cause.back() != view) of_cause.push_back(view);
    }
  std::ranges::stable_sort(stale, std::greater(), [](const StaleViews& it) { return it.views.size(); });
  return stale;
}

void StaleNotice::add(int view) {
  const std::string& name = products_.plan.name(view);
  for (const auto& [kind, text] : products_.results.causes(products_.key(step_, view))) {
    const std::lock_guard lock(mutex_);
    if (said_.insert(kind).second)
      messages().info("{}: stale views are done again, such as {}: {}", step_name(step_), name, text);
    else
      messages().debug("{}: {} is done again: {}", step_name(step_), name, text);
  }
}

void StaleNotice::add_all(const std::vector<int>& views) {
  for (const auto& [cause, stale] : stale_views(products_, step_, views)) {
    const std::string& first = products_.plan.name(stale.front());
    if (stale.size() == 1)
      messages().info("{}: the stale view {} is done again: {}", step_name(step_), first, cause);
    else
      messages().info("{}: {} stale views are done again, such as {}: {}", step_name(step_), stale.size(),
                      first, cause);
  }
  const std::lock_guard lock(mutex_);
  for (const int view : views)
    for (const StaleCause& change : products_.results.causes(products_.key(step_, view))) {
      said_.insert(change.kind);
      messages().debug("{}: {} is done again: {}", step_name(step_), products_.plan.name(view), change.text);
    }
}

}  // namespace recon

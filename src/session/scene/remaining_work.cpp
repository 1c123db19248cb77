#include "session/scene/remaining_work.hpp"

#include <algorithm>
#include <set>

#include "core/parallel.hpp"
#include "core/paths.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

namespace {

bool is_cleaned(const SceneRun& run, int view) {
  const StepRecord* const estimate = run.result(Step::kEstimate, view);
  return estimate != nullptr && estimate->cleaned;
}

/// Whether the check of a view is finished for the depth maps that the run has.
bool is_checked(SceneRun& run, int view) {
  std::vector<int> sources;
  for (const int source : run.plan.view(view).sources)
    if (run.plan.view(source).in_scope) sources.push_back(source);
  const auto is_estimated = [&](int it) { return run.result(Step::kEstimate, it) != nullptr; };
  return is_estimated(view) && std::all_of(sources.begin(), sources.end(), is_estimated) &&
         run.results.find(run.key(Step::kCheck, view), check_inputs(run, view, sources)) != nullptr;
}

}  // namespace

std::vector<int> cleaned_but_needed(SceneRun& run) {
  const std::vector<int> views = run.plan.views_in_scope();
  if (std::none_of(views.begin(), views.end(), [&](int view) { return is_cleaned(run, view); })) return {};
  std::vector<char> finished(views.size());
  parallel_for(static_cast<int>(views.size()),
               [&](int i) { finished[i] = is_checked(run, views[i]) ? 1 : 0; });
  std::set<int> needed;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (finished[i] != 0) continue;
    needed.insert(views[i]);
    for (const int source : run.plan.view(views[i]).sources)
      if (run.plan.view(source).in_scope) needed.insert(source);
  }
  std::erase_if(needed, [&](int view) { return !is_cleaned(run, view); });
  return {needed.begin(), needed.end()};
}

std::vector<int> views_to_estimate(SceneRun& run) {
  std::vector<int> views = run.views_of(Step::kEstimate);
  parallel_for(static_cast<int>(views.size()), [&](int i) {
    run.results.find(run.key(Step::kEstimate, views[i]), estimate_inputs(run, views[i]));
  });
  if (run.does(Step::kCheck))
    for (const int view : cleaned_but_needed(run)) {
      run.results.forget(run.key(Step::kEstimate, view), "its maps were removed by --clean");
      run.results.forget(run.key(Step::kCheck, view), "");  // it may fail this time
    }
  std::erase_if(views, [&](int view) { return run.result(Step::kEstimate, view) != nullptr; });
  return views;
}

SceneWork all_work(const SceneRun& run) {
  SceneWork work;
  for (const Step step : {Step::kPrepare, Step::kEstimate, Step::kCheck, Step::kFusion})
    work[step] = run.views_of(step);
  return work;
}

SceneWork remaining_work(SceneRun& run) {
  if (run.options.overwrite || !is_folder(run.workspace.path("status"))) return all_work(run);
  check_photos(run);  // one that cannot be used is left out, as the run does
  SceneWork work = all_work(run);
  std::erase_if(work[Step::kPrepare], [&](int view) { return run.result(Step::kPrepare, view) != nullptr; });
  if (run.does(Step::kEstimate)) work[Step::kEstimate] = views_to_estimate(run);
  // What is estimated now is checked then.
  std::erase_if(work[Step::kCheck], [&](int view) {
    return is_checked(run, view) || (!run.does(Step::kEstimate) && !run.result(Step::kEstimate, view));
  });
  if (!run.does(Step::kFusion) || !work[Step::kCheck].empty()) return work;
  std::vector<int> checked = work[Step::kFusion];
  std::erase_if(checked, [&](int view) { return run.result(Step::kCheck, view) == nullptr; });
  if (run.results.find({Step::kFusion}, fusion_inputs(run, checked))) work[Step::kFusion].clear();
  return work;
}

SceneWork work_done(const SceneRun& run) {
  const auto did = [&](const ResultKey& key) {
    return run.results.get(key) != nullptr && !run.results.kept(key);
  };
  SceneWork work = all_work(run);
  for (const Step step : {Step::kEstimate, Step::kCheck})
    std::erase_if(work[step], [&](int view) { return !did(run.key(step, view)); });
  const std::vector<int>& estimated = work[Step::kEstimate];
  if (estimated.size() < run.plan.active_views().size()) work[Step::kPrepare] = estimated;
  if (!did({Step::kFusion})) work[Step::kFusion].clear();
  return work;
}

}  // namespace recon

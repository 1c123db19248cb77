#include "session/scene/scene_graph.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/parallel.hpp"
#include "core/paths.hpp"
#include "core/unique_id.hpp"
#include "session/graph/task_threads.hpp"
#include "session/scene/scene_run.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

namespace {

/// @param run  the views that devices take at once are those of their backends
std::vector<std::size_t> pools_of(const SceneRun& run, const Backends& backends) {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const MemoryPlan& memory = run.memory;
  std::size_t slots = 0;
  for (const auto& backend : backends) slots += count(backend->streams() * memory.threads_a_stream);
  std::vector<std::size_t> pools(SceneGraph::kCommits + 1);
  pools[SceneGraph::kSlots] = slots;
  pools[SceneGraph::kResults] = slots + count(memory.writes_waiting);
  pools[SceneGraph::kWrites] = count(std::min(run.threads, kConcurrentCommits));
  pools[SceneGraph::kChecks] = count(memory.checks_beside);
  pools[SceneGraph::kCheckedFiles] = count(kConcurrentCommits + memory.check_at_once);
  pools[SceneGraph::kCommits] = count(kConcurrentCommits);
  return pools;
}

}  // namespace

void StepProgress::advance(bool kept) {
  const std::lock_guard lock(mutex_);
  ++done_;
  kept_ += kept ? 1 : 0;
  if (shown_) kept ? shown_->keep(1) : shown_->advance();
}

void StepProgress::show(const SceneRun& run, Step step, int views, int of_all) {
  const std::lock_guard lock(mutex_);
  shown_.emplace(step_name(step), views, progress_style(run.options.quiet),
                 run.predicted(step_name(step), views - done_, of_all));
  shown_->keep(kept_);
  shown_->skip(done_ - kept_);
}

void StepProgress::reset() {
  const std::lock_guard lock(mutex_);
  done_ = kept_ = 0;
  if (shown_) shown_->restart();
}

int StepProgress::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

SceneGraph::SceneGraph(SceneRun& scene, const Backends& devices, std::unique_ptr<Executor> executor)
    : run(scene),
      backends(devices),
      first_map_id(unique_ids(scene.plan.views.size())),
      views(scene.plan.views.size()),
      threads(executor ? std::move(executor) : std::make_unique<TaskThreads>(scene.threads)),
      scheduler(*threads, pools_of(scene, devices)) {}

namespace {

bool is_cleaned(const SceneRun& run, int view) {
  const StepRecord* const estimate = run.result(Step::kEstimate, view);
  return estimate != nullptr && estimate->cleaned;
}

/// Whether the check of a view is finished for the depth maps that the run has. Where it estimates none, a
/// source without a map takes no part in it.
bool is_checked(SceneRun& run, int view) {
  const auto is_estimated = [&](int it) { return run.result(Step::kEstimate, it) != nullptr; };
  std::vector<int> sources;
  for (const int source : run.plan.view(view).sources)
    if (run.plan.view(source).in_scope && (run.does(Step::kEstimate) || is_estimated(source)))
      sources.push_back(source);
  return is_estimated(view) && std::ranges::all_of(sources, is_estimated) &&
         run.results.find(run.key(Step::kCheck, view), check_inputs(run, view, sources)) != nullptr;
}

}  // namespace

std::vector<int> cleaned_but_needed(SceneRun& run) {
  std::vector<int> views = run.plan.views_in_scope();
  if (!run.does(Step::kEstimate))  // those without a map are not checked
    std::erase_if(views, [&](int view) { return run.result(Step::kEstimate, view) == nullptr; });
  if (std::ranges::none_of(views, [&](int view) { return is_cleaned(run, view); })) return {};
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
  std::vector<int> again = views;  // without a check, the maps themselves are what is asked for
  if (run.does(Step::kCheck))
    again = cleaned_but_needed(run);
  else
    std::erase_if(again, [&](int view) { return !is_cleaned(run, view); });
  for (const int view : again) {
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

// --clean: maps before the check across views do not stay on the disk.

#include <algorithm>
#include <set>

#include "core/parallel.hpp"
#include "session/scene/scene_run.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

namespace {

bool is_cleaned(const SceneRun& run, int view) {
  const auto& estimate = run.state(view).estimate;
  return estimate && estimate->cleaned;
}

}  // namespace

FinishedStep finished_check(const SceneRun& run, int view) {
  if (!run.state(view).estimate) return {};
  std::vector<int> sources;
  for (const int source : run.plan.view(view).sources) {
    if (!run.plan.view(source).in_scope) continue;
    if (!run.state(source).estimate) return {};
    sources.push_back(source);
  }
  return find_finished(run, Step::kCheck, view, check_inputs(run, view, sources));
}

std::vector<int> cleaned_but_needed(const SceneRun& run) {
  const std::vector<int> views = run.plan.views_in_scope();
  if (std::none_of(views.begin(), views.end(), [&](int view) { return is_cleaned(run, view); })) return {};
  std::vector<char> finished(views.size());
  parallel_for(static_cast<int>(views.size()),
               [&](int i) { finished[i] = finished_check(run, views[i]).record ? 1 : 0; });
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

void clean_maps(SceneRun& run, int view) {
  std::optional<StepRecord>& estimate = run.state(view).estimate;
  if (!estimate || !run.plan.view(view).in_scope) return;
  // The record goes first: files that a killed run leaves are removed by the next.
  if (!estimate->cleaned) {
    estimate->cleaned = true;
    write_record(run.workspace.path(run.record_file(Step::kEstimate, view)), *estimate);
  }
  for (const OutputFile& file : estimate->outputs) remove_result(run.workspace.path(file.name));
}

}  // namespace recon

#include "session/plan/remaining_work.hpp"

#include <filesystem>
#include <system_error>

#include "session/resume/step_inputs.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

/// Where the estimates of all that the check compares with a view stand, the record of its check.
bool check_finished(SceneRun& run, int view) {
  if (!run.state(view).estimate) return false;
  std::vector<int> sources;
  for (const int source : run.plan.view(view).sources) {
    if (!run.plan.view(source).in_scope) continue;
    if (!run.state(source).estimate) return false;
    sources.push_back(source);
  }
  const nlohmann::json inputs = check_inputs(run, view, sources);
  run.state(view).check =
      find_finished(run, Workspace::record_file(Step::kCheck, run.plan.view(view).output_name), inputs)
          .record;
  return run.state(view).check.has_value();
}

bool has_results(const SceneRun& run) {
  std::error_code error;
  return !run.options.overwrite && fs::is_directory(run.workspace.path("status"), error);
}

}  // namespace

RemainingWork remaining_work(SceneRun& run) {
  RemainingWork work;
  const bool fuse_too = run.options.stage != Stage::kEstimate, estimate = run.options.stage != Stage::kFuse;
  work.fuse = fuse_too;
  if (!has_results(run)) {
    work.prepare = run.plan.needed_views();
    if (estimate) work.estimate = run.plan.active_views();
    if (fuse_too) work.check = run.plan.views_in_scope();
    return work;
  }
  check_photos(run);  // one that cannot be used is left out, as the run does
  for (const int view : run.plan.needed_views())
    if (!run.state(view).prepared) work.prepare.push_back(view);
  for (const int view : run.plan.views_in_scope()) {
    const nlohmann::json inputs = estimate_inputs(run, view);
    const std::string record = Workspace::record_file(Step::kEstimate, run.plan.view(view).output_name);
    run.state(view).estimate = find_finished(run, record, inputs).record;
    if (estimate && run.plan.view(view).active && !run.state(view).estimate) work.estimate.push_back(view);
  }
  if (!fuse_too) return work;
  const std::vector<int> views = run.plan.views_in_scope();
  for (const int view : views)
    if ((estimate || run.state(view).estimate) && !check_finished(run, view)) work.check.push_back(view);
  if (!work.check.empty()) return work;
  const nlohmann::json inputs = fusion_inputs(run, views);
  work.fuse = !find_finished(run, Workspace::fusion_record_file(), inputs).record;
  return work;
}

RemainingWork work_done(const SceneRun& run) {
  RemainingWork work;
  for (const int view : run.plan.views_in_scope()) {
    const ViewState& state = run.state(view);
    if (state.estimate && !state.estimate_kept) work.estimate.push_back(view);
    if (state.check && !state.check_kept) work.check.push_back(view);
  }
  const bool all = work.estimate.size() == run.plan.active_views().size();
  work.prepare = all ? run.plan.needed_views() : work.estimate;
  work.fuse = run.cloud && !run.cloud->kept;
  return work;
}

}  // namespace recon

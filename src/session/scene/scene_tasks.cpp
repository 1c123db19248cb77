#include "session/scene/scene_tasks.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/paths.hpp"
#include "fuse/fusion.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

SceneTasks::SceneTasks(SceneRun& run, const Backends& backends)
    : run_(run),
      checks_(run, backends),
      estimation_(run, backends, run.options.stage == Stage::kEstimate ? nullptr : &checks_),
      fusion_(run, backends),
      tasks_(run.plan.views.size()),
      threads_(run.threads),
      scheduler_(threads_, pools()) {}

std::vector<std::size_t> SceneTasks::pools() const {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const MemoryPlan& memory = run_.memory;
  std::vector<std::size_t> pools(kCommits + 1);
  pools[kSlots] = estimation_.slots();
  pools[kResults] = estimation_.slots() + count(memory.writes_waiting);
  pools[kWrites] = count(std::min(run_.threads, kConcurrentCommits));
  pools[kChecks] = count(memory.checks_beside);
  pools[kCheckedFiles] = count(kConcurrentCommits + memory.check_at_once);
  pools[kCommits] = count(kConcurrentCommits);
  return pools;
}

void SceneTasks::add_estimate(int view) {
  Task estimate{.step = kEstimation, .shares = {{kSlots}, {kResults, 1, true}}};
  estimate.run = [this, view] {
    const TaskEnd end = estimation_.estimate(view);
    if (end == TaskEnd::kAgain) scheduler_.set_pool(kSlots, estimation_.slots());
    return end;
  };
  const TaskId estimated = scheduler_.add(std::move(estimate));
  Task write{.step = kEstimation, .needs = {estimated}, .shares = {{kWrites}}, .takes_over = estimated};
  write.saves = true;
  write.run = [this, view] { return estimation_.write(view), TaskEnd::kDone; };
  tasks_[view].write = scheduler_.add(std::move(write));
}

void SceneTasks::add_check(int view) {
  Task check{.step = kCheck, .lane = Lane::kSpare, .shares = {{kChecks}, {kCheckedFiles, 1, true}}};
  if (const TaskId own = tasks_[view].write; own >= 0) check.needs = {own};
  for (const int source : run_.plan.view(view).sources)
    if (const TaskId write = tasks_[source].write; write >= 0) check.after.push_back(write);
  check.run = [this, view] { return checks_.check(view), TaskEnd::kDone; };
  tasks_[view].check = scheduler_.add(std::move(check));
  Task commit{.step = kCheck,
              .needs = {tasks_[view].check},
              .shares = {{kCommits}},
              .takes_over = tasks_[view].check,
              .saves = true};
  commit.run = [this, view] { return checks_.commit(view), TaskEnd::kDone; };
  tasks_[view].commit = scheduler_.add(std::move(commit));
}

/// The checks of all views that are estimated or will be; the maps of a view before its check are released
/// after the last check that needs them.
void SceneTasks::add_checks() {
  if (std::exchange(has_checks_, true)) return;
  std::vector<std::vector<TaskId>> users(tasks_.size());
  for (const int view : run_.plan.views_in_scope()) {
    if (tasks_[view].write < 0 && !run_.state(view).estimate) continue;
    add_check(view);
    users[view].push_back(tasks_[view].commit);
    for (const int source : run_.plan.view(view).sources) users[source].push_back(tasks_[view].commit);
  }
  for (std::size_t view = 0; view < users.size(); ++view) {
    if (users[view].empty()) continue;
    Task release{.step = kCheck, .after = users[view], .shares = {{kCommits}}};
    release.run = [this, view] { return checks_.release(static_cast<int>(view)), TaskEnd::kDone; };
    scheduler_.add(std::move(release));
  }
  if (may_fuse_beside()) add_fusion(run_.plan.views_in_scope(), true);
}

/// Whether the cloud of all views in scope may begin before they are checked: there is none yet.
bool SceneTasks::may_fuse_beside() const {
  const std::vector<int> views = run_.plan.views_in_scope();
  return run_.memory.fusion_beside && run_.options.stage == Stage::kAll &&
         (run_.options.overwrite || !is_there(run_.workspace.path(Workspace::fusion_record_file()))) &&
         std::all_of(views.begin(), views.end(), [this](int view) { return tasks_[view].check >= 0; });
}

void SceneTasks::add_fusion(const std::vector<int>& views, bool beside) {
  const std::vector<FusionView> geometry = fusion_views(run_, views);
  // Maps that stay in memory do not have to be on the disk.
  const auto add_maps = [&](std::size_t index, std::vector<TaskId>& needs) {
    const ViewTasks& tasks = tasks_[views[index]];
    needs.push_back(run_.memory.keeps_maps ? tasks.check : tasks.commit);
  };
  TaskId last = add_fusion_task({}, beside, [this, views] { fusion_.open(views); });
  for (std::size_t i = 0; i < views.size(); ++i) {
    std::vector<TaskId> needs = {last};
    // Those of the next view are read meanwhile.
    for (std::size_t view = i; view < std::min(i + 2, views.size()); ++view) {
      add_maps(view, needs);
      for (const int neighbour : geometry[view].neighbours)
        add_maps(static_cast<std::size_t>(neighbour), needs);
    }
    last = add_fusion_task(std::move(needs), beside, [this] { fusion_.fuse_next(); });
  }
}

TaskId SceneTasks::add_fusion_task(std::vector<TaskId> needs, bool beside,
                                   const std::function<void()>& work) {
  Task task{.step = kFusion, .needs = std::move(needs)};
  const auto leave_it = [this](const char* reason) {
    spdlog::info("fusion: it begins after the check, not beside: {}", reason);
    fusion_.drop();
    return TaskEnd::kFailed;
  };
  task.run = [work, beside, leave_it] {
    try {
      work();
      return TaskEnd::kDone;
    } catch (const OutOfMemory& error) {  // alone there may be enough
      if (!beside) throw;
      return leave_it(error.what());
    } catch (const std::bad_alloc&) {
      if (!beside) throw;
      return leave_it("there is not enough memory");
    }
  };
  return scheduler_.add(std::move(task));
}

void SceneTasks::estimate() {
  const std::vector<int> views = views_to_estimate(run_);
  if (views.empty()) return;
  for (const int view : views) add_estimate(view);
  if (run_.options.stage == Stage::kAll && run_.memory.checks_beside > 0) add_checks();
  estimation_.begin(static_cast<int>(views.size()));
  scheduler_.wait(kEstimation, false);
}

void SceneTasks::check() {
  add_checks();
  checks_.show_progress();
  scheduler_.set_pool(kChecks, static_cast<std::size_t>(run_.memory.check_at_once));
  scheduler_.wait(kCheck, true);
  checks_.log_kept();
}

void SceneTasks::fuse() {
  if (fusion_.keep_finished()) return;
  scheduler_.wait(kFusion, false);
  if (!fusion_.has_fused_all()) {
    add_fusion(checked_views(run_), false);
    scheduler_.wait(kFusion, false);
  }
  fusion_.commit();
}

}  // namespace recon

#include "session/scene/scene_graph.hpp"

#include <algorithm>
#include <utility>

#include "core/unique_id.hpp"
#include "session/graph/task_threads.hpp"
#include "session/scene/scene_run.hpp"

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

void StepProgress::advance() {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (shown_) shown_->advance();
}

void StepProgress::show(const SceneRun& run, Step step, int views, int of_all) {
  const std::lock_guard lock(mutex_);
  shown_.emplace(step_name(step), views, progress_style(run.options.quiet),
                 run.predicted(step_name(step), views - done_, of_all));
  shown_->skip(done_);
}

void StepProgress::reset() {
  const std::lock_guard lock(mutex_);
  done_ = 0;
  shown_.reset();
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

}  // namespace recon

#include "session/scene/scene_graph.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/unique_id.hpp"
#include "refine/mean_normals.hpp"
#include "session/graph/task_threads.hpp"
#include "session/scene/scene_job.hpp"

namespace recon {

template <class Work, class Here>
auto CheckDevices::on_device(int view, const Work& work, const Here& here) -> decltype(here()) {
  if (Backend* backend = device_of(view)) try {
      return work(*backend);
    } catch (const DeviceError& error) {
      give_up(backend, error);
    } catch (const OutOfMemory& error) {
      give_up(backend, error);
    }
  return here();
}

Image<Agreement> CheckDevices::count_agreement(int view, const DepthSource& reference,
                                               const std::vector<DepthSource>& sources,
                                               const ConsistencyOptions& options) {
  return on_device(
      view, [&](Backend& backend) { return backend.count_agreement(reference, sources, options); },
      [&] { return recon::count_agreement(reference, sources, options); });
}

Image<Vec3f> CheckDevices::checked_normals(int view, ImageView<const float> depth, const Pinhole& camera) {
  return on_device(
      view, [&](Backend& backend) { return backend.checked_normals(depth, camera); },
      [&] { return recon::checked_normals(depth, camera); });
}

Backend* CheckDevices::device_of(int view) {
  const std::lock_guard lock(mutex_);
  return backends_.empty() ? nullptr : backends_[static_cast<std::size_t>(view) % backends_.size()];
}

void CheckDevices::give_up(const Backend* backend, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (std::erase(backends_, backend) > 0)
    findings_.warn(backend->name() + " fails, the check continues without it: " + error.what());
}

namespace {

/// @param job  the views that devices take at once are those of their backends
std::vector<std::size_t> pools_of(const SceneJob& job, const Backends& backends) {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const MemoryPlan& memory = job.memory;
  std::size_t slots = 0;
  for (const auto& backend : backends) slots += count(backend->streams() * memory.threads_a_stream);
  std::vector<std::size_t> pools(SceneGraph::kCommits + 1);
  pools[SceneGraph::kSlots] = slots;
  pools[SceneGraph::kResults] = slots + count(memory.writes_waiting);
  pools[SceneGraph::kWrites] = count(std::min(job.host.threads, kConcurrentCommits));
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

void StepProgress::show(const SceneJob& job, Step step, int views, int of_all) {
  const std::lock_guard lock(mutex_);
  shown_.emplace(step_name(step), views, progress_style(job.quiet),
                 job.predicted(step_name(step), views - done_, of_all));
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

SceneGraph::SceneGraph(SceneJob& scene, const Backends& devices, std::unique_ptr<Executor> executor)
    : job(scene),
      backends(devices),
      first_map_id(unique_ids(4 * scene.plan.views.size())),
      check_devices(devices, scene.findings),
      views(scene.plan.views.size()),
      threads(executor ? std::move(executor) : std::make_unique<TaskThreads>(scene.host.threads)),
      scheduler(*threads, pools_of(scene, devices)) {}

TaskId SceneGraph::add(Step step, Task task) {
  task.step = static_cast<int>(step);
  return scheduler.add(std::move(task));
}

}  // namespace recon

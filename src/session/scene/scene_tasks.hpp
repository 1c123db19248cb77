#pragma once

#include <cstddef>
#include <vector>

#include "methods/backend.hpp"
#include "session/graph/scheduler.hpp"
#include "session/graph/task_threads.hpp"
#include "session/scene/check_views.hpp"
#include "session/scene/estimate_views.hpp"
#include "session/scene/fuse_views.hpp"

namespace recon {

/// The tasks of a prepared scene:
///
///     estimate(v) -> write(v) -> check(v | its sources) -> commit(v) -> release(maps of v and its sources)
///                                check(v and neighbours), fuse(the view before) -> fuse(v)
///
/// Where a GPU estimates and memory allows, views are checked, and fused, as soon as those that they need are
/// done, with the processor time that the estimation leaves; else step by step.
class SceneTasks {
 public:
  /// @param run  with its memory planned
  SceneTasks(SceneRun& run, const Backends& backends);

  /// Estimates the depth of all active views; finished and unchanged work is kept. A view that fails is added
  /// to `failed`; those of a device that fails are estimated on the others.
  /// @throws OutOfMemory, DeviceError when the last device fails, OutputError, Interrupted
  void estimate();

  /// Checks all estimated views. The results are in the states of the views.
  /// @throws InputError, OutputError, OutOfMemory, Interrupted
  void check();

  /// Fuses the checked views and writes the cloud, or keeps a finished one.
  /// @throws InputError when the cloud would be empty, with what is known of the reason
  /// @throws OutputError, OutOfMemory, Interrupted
  void fuse();

  /// Whether a task has thrown. Thread-safe.
  bool has_failed() const { return scheduler_.has_failed(); }

  /// Number of views whose points are all made. Thread-safe.
  int fused() { return fusion_.fused(); }

 private:
  enum Phase { kEstimation, kCheck, kFusion };
  enum Pool { kSlots, kResults, kWrites, kChecks, kCheckedFiles, kCommits };

  /// The tasks of a view; -1: it has none.
  struct ViewTasks {
    TaskId write = -1, check = -1, commit = -1;
  };

  std::vector<std::size_t> pools() const;
  void add_estimate(int view);
  void add_check(int view);
  void add_checks();
  void add_fusion(const std::vector<int>& views, bool beside);
  TaskId add_fusion_task(std::vector<TaskId> needs, bool beside, const std::function<void()>& work);
  bool may_fuse_beside() const;

  SceneRun& run_;
  ViewChecks checks_;
  ViewEstimation estimation_;
  ViewFusion fusion_;
  std::vector<ViewTasks> tasks_;  ///< by view
  bool has_checks_ = false;
  TaskThreads threads_;
  Scheduler scheduler_;
};

}  // namespace recon

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/progress.hpp"
#include "methods/backend.hpp"
#include "session/graph/scheduler.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

struct FusionView;
struct SceneRun;
struct UnfinishedCloud;

/// The views of a step that are done, which may be so before their progress is shown. Thread-safe.
class StepProgress {
 public:
  /// @param kept  an earlier run did it
  void advance(bool kept = false);

  /// Shows the progress from now on.
  /// @param views   of the step, those included that are done
  /// @param of_all  the views whose time is predicted
  void show(const SceneRun& run, Step step, int views, int of_all);

  /// Begins again.
  void reset();

  int done() const;

 private:
  mutable std::mutex mutex_;
  int done_ = 0, kept_ = 0;
  std::optional<Progress> shown_;
};

/// The tasks of a prepared scene:
///
///     estimate(v) -> write(v) -> check(v | its sources) -> commit(v) -> release(maps of v and its sources)
///                                check(v, its neighbours and those of the next), fuse(the view before) ->
///                                fuse(v)
///
/// Where a GPU estimates and memory allows, views are fused, and checked with the processor time that is
/// left, as soon as those that they need are done; else step by step.
struct SceneGraph {
  enum Phase { kEstimation, kCheck, kFusion };
  enum Pool { kSlots, kResults, kWrites, kChecks, kCheckedFiles, kCommits };

  /// The tasks of a view; -1: it has none.
  struct ViewTasks {
    TaskId write = -1, check = -1, commit = -1;
  };

  /// @param scene  with its memory planned
  /// @param executor  null: TaskThreads
  SceneGraph(SceneRun& scene, const Backends& devices, std::unique_ptr<Executor> executor = nullptr);

  /// Identifies the maps of a view before the check within the process, see DepthSource.
  std::uint64_t map_id(int view) const { return first_map_id + static_cast<std::uint64_t>(view); }

  SceneRun& run;
  const Backends& backends;
  const std::uint64_t first_map_id;
  std::vector<ViewTasks> views;
  bool has_checks = false;
  std::array<StepProgress, 3> progress;    ///< by phase
  std::shared_ptr<UnfinishedCloud> cloud;  ///< once it is begun
  const std::unique_ptr<Executor> threads;
  Scheduler scheduler;  ///< the last member: it ends before what its tasks use
};

/// Writes the model of the undistorted images: beside the estimation where memory allows, else at once.
void add_dense_model(SceneGraph& graph);

/// Compares the photos with cameras and poses: beside the estimation where checks are, else at once.
void add_photo_check(SceneGraph& graph);

/// Estimates the depth of all active views, where the run does that; finished and unchanged work is kept. A
/// view that fails is added to the run's `failed`; those of a device that fails are estimated on the others.
/// @throws OutOfMemory, DeviceError when the last device fails, OutputError, Interrupted
void estimate_views(SceneGraph& graph);

/// Adds the checks of all views that are estimated or will be, unless they are there, and the fusion where it
/// begins beside.
void add_checks(SceneGraph& graph);

/// Checks all estimated views. The results are in the states of the views.
/// @throws InputError, OutputError, OutOfMemory, Interrupted
void check_views(SceneGraph& graph);

/// The geometry of `views`, and as neighbours the indices of those of them that overlap.
std::vector<FusionView> fusion_views(const SceneRun& run, const std::vector<int>& views);

/// Adds the fusion of all views in scope beside their checks where memory allows it and there is no cloud
/// yet.
void add_fusion_beside(SceneGraph& graph);

/// Fuses the checked views and writes the cloud, or keeps a finished one.
/// @throws InputError when the cloud would be empty, with what is known of the reason
/// @throws OutputError, OutOfMemory, Interrupted
void fuse_views(SceneGraph& graph);

/// The unfinished or finished tasks of a scene: the views of each step. Fusion is one task, of all its views.
using SceneWork = std::map<Step, std::vector<int>>;

/// The active views whose depth maps are not finished and unchanged. Where checks come next, those are among
/// them whose maps an earlier run removed by --clean, and of which a check has need now.
std::vector<int> views_to_estimate(SceneRun& run);

/// The views in scope whose maps --clean has removed, and of which a check has need now.
std::vector<int> cleaned_but_needed(SceneRun& run);

/// The work of a run: all but finished and unchanged results, which are detected as by the run itself.
SceneWork remaining_work(SceneRun& run);

/// All work of a run, as if nothing were finished.
SceneWork all_work(const SceneRun& run);

/// The work of a finished run, by its results. The image of a view that was matched was prepared.
SceneWork work_done(const SceneRun& run);

}  // namespace recon

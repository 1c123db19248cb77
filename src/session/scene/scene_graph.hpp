#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/progress.hpp"
#include "fuse/agreement.hpp"
#include "methods/backend.hpp"
#include "session/graph/scheduler.hpp"
#include "session/products/filled_maps.hpp"
#include "session/products/findings.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// The devices that compare the depth maps of views, in turn; where one fails, the host goes on. Thread-safe.
class CheckDevices {
 public:
  /// The arguments outlive this.
  CheckDevices(const Backends& backends, Findings& findings) : findings_(findings) {
    for (const auto& backend : backends) backends_.push_back(backend.get());
  }

  /// What the sources say of the depths of a view, see recon::count_agreement.
  Image<Agreement> count_agreement(int view, const DepthSource& reference,
                                   const std::vector<DepthSource>& sources,
                                   const ConsistencyOptions& options);

  /// The normals of checked depths of a view, see recon::checked_normals.
  Image<Vec3f> checked_normals(int view, ImageView<const float> depth, const Pinhole& camera);

 private:
  /// The result of `work` on the device of a view or, if it fails, of `here`.
  template <class Work, class Here>
  auto on_device(int view, const Work& work, const Here& here) -> decltype(here());
  Backend* device_of(int view);
  void give_up(const Backend* backend, const Error& error);

  Findings& findings_;
  std::mutex mutex_;
  std::vector<Backend*> backends_;  ///< those that have not failed
};

struct FusionView;
class PlaneSearch;
struct ScenePlan;
struct SceneJob;
struct UnfinishedCloud;

/// The views of a step that are done, which may be so before their progress is shown. Thread-safe.
class StepProgress {
 public:
  /// @param kept  an earlier run did it
  void advance(bool kept = false);

  /// Shows the progress from now on.
  /// @param views   of the step, those included that are done
  /// @param of_all  the views whose time is predicted
  void show(const SceneJob& job, Step step, int views, int of_all);

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
///     estimate(v) -> write(v) -> look(v | its sources) -> planes, areas of all
///     write(v), areas -> check(v | its sources) -> commit(v) -> release(maps of v and its sources)
///                                check(v, its neighbours and those of the next), fuse(the view before) ->
///                                fuse(v)
///
/// Where a GPU estimates and memory allows, views are looked at for planes, or checked where none are
/// searched, with the processor time that is left, and fused, as soon as those that they need are done; else
/// step by step.
struct SceneGraph {
  enum Pool { kSlots, kResults, kWrites, kChecks, kCheckedFiles, kCommits };

  /// The tasks of a view; -1: it has none.
  struct ViewTasks {
    TaskId write = -1, check = -1, commit = -1;
  };

  /// @param scene  prepared, with its memory planned
  /// @param executor  null: TaskThreads
  SceneGraph(SceneJob& scene, const Backends& devices, std::unique_ptr<Executor> executor = nullptr);

  /// Adds a task of a step, and waits for those of a step, see Scheduler.
  TaskId add(Step step, Task task);
  void wait(Step step, bool spare) { scheduler.wait(static_cast<int>(step), spare); }

  StepProgress& progress(Step step) { return progress_[static_cast<std::size_t>(step)]; }
  const StepProgress& progress(Step step) const { return progress_[static_cast<std::size_t>(step)]; }

  /// Identifies the maps of a view before the check within the process, see DepthSource.
  std::uint64_t map_id(int view) const { return first_map_id + static_cast<std::uint64_t>(view); }

  /// The same of its maps in small, and of those that are filled.
  std::uint64_t small_map_id(int view) const { return map_id(view) + views.size(); }
  std::uint64_t filled_map_id(int view, FilledMaps::By by) const {
    return map_id(view) + (by == FilledMaps::By::kNothing  ? 0
                           : by == FilledMaps::By::kPlanes ? 2
                                                           : 3) *
                              views.size();
  }

  SceneJob& job;
  const Backends& backends;
  const std::uint64_t first_map_id;
  CheckDevices check_devices;
  std::vector<ViewTasks> views;
  bool has_checks = false;
  std::shared_ptr<PlaneSearch> plane_search;  ///< until it has found them
  std::shared_ptr<UnfinishedCloud> cloud;     ///< once it is begun
  const std::unique_ptr<Executor> threads;

 private:
  std::array<StepProgress, static_cast<std::size_t>(Step::kPair)> progress_;

 public:
  Scheduler scheduler;  ///< the last member: it ends before what its tasks use
};

/// Writes the model of the undistorted images: beside the estimation where memory allows, else at once.
void add_dense_model(SceneGraph& graph);

/// Compares the photos with cameras and poses: beside the estimation where checks are, else at once.
void add_photo_check(SceneGraph& graph);

/// Estimates the depth of all active views, where the run does that; finished and unchanged work is kept. A
/// view that fails is added to the findings; those of a device that fails are estimated on the others.
/// @throws OutOfMemory, DeviceError when the last device fails, OutputError, Interrupted
void estimate_views(SceneGraph& graph);

/// Adds the tasks that look at the views which are estimated or will be, for the planes of the scene.
void add_plane_search(SceneGraph& graph);

/// Finds the planes of the scene and the areas of the views that they fill; a finished result is kept.
/// @throws InputError, OutputError, OutOfMemory, Interrupted
void find_planes(SceneGraph& graph);

/// Adds the checks of all views that are estimated or will be, unless they are there, and the fusion where it
/// begins beside.
void add_checks(SceneGraph& graph);

/// Checks all estimated views. The results are in the states of the views.
/// @throws InputError, OutputError, OutOfMemory, Interrupted
void check_views(SceneGraph& graph);

/// The geometry of `views`, and as neighbours the indices of those of them that overlap.
std::vector<FusionView> fusion_views(const ScenePlan& plan, const std::vector<int>& views);

/// Adds the fusion of all views in scope beside their checks where memory allows it and there is no cloud
/// yet.
void add_fusion_beside(SceneGraph& graph);

/// Fuses the checked views and writes the cloud, or keeps a finished one.
/// @throws InputError when the cloud would be empty, with what is known of the reason
/// @throws OutputError, OutOfMemory, Interrupted
void fuse_views(SceneGraph& graph);

}  // namespace recon

#pragma once

#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/progress.hpp"
#include "methods/backend.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

struct FusionView;
struct SceneRun;
struct UnfinishedCloud;

/// The checked views, in the order of fusion.
std::vector<int> checked_views(const SceneRun& run);

/// The geometry of `views`, and as neighbours the indices of those of them that overlap.
std::vector<FusionView> fusion_views(const SceneRun& run, const std::vector<int>& views);

/// The fusion of checked views into dense/fused.ply, view by view, with the processor time that others leave.
class ViewFusion {
 public:
  /// @param backends  the first that can fuses; else, and where it fails, the CPU
  ViewFusion(SceneRun& run, const Backends& backends);

  /// Of a cloud that is not finished nothing is kept.
  ~ViewFusion();

  ViewFusion(const ViewFusion&) = delete;
  ViewFusion& operator=(const ViewFusion&) = delete;

  /// Begins the cloud of `views` in the place of that of an earlier run.
  /// @throws OutputError, OutOfMemory
  void open(const std::vector<int>& views);

  /// Fuses the next of these views; its maps and those of its neighbours are checked.
  /// @throws OutputError, OutOfMemory, InputError, Interrupted
  void fuse_next();

  /// Drops the cloud and what is fused of it.
  void drop();

  /// Number of views whose points are all made. Thread-safe.
  int fused();

  /// Whether there is a finished cloud of all checked views, which is then kept. Else shows the progress from
  /// now on.
  bool keep_finished();

  /// Whether all checked views are fused, and no others; else what is fused is dropped.
  bool has_fused_all();

  /// Writes the cloud of all checked views.
  /// @throws InputError when it would be empty, with what is known of the reason
  /// @throws OutputError
  void commit();

 private:
  void show_progress();

  SceneRun& run_;
  const Backends& backends_;
  oneapi::tbb::task_arena arena_;
  StepRecord record_;
  std::unique_ptr<UnfinishedCloud> cloud_;
  std::mutex mutex_;  ///< of all that follows
  int fused_ = 0;     ///< views
  std::optional<Progress> progress_;
};

}  // namespace recon

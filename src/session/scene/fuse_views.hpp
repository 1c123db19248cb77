#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/progress.hpp"
#include "methods/backend.hpp"
#include "session/resume/step_record.hpp"

namespace recon {

class ViewChecks;
struct SceneRun;
struct UnfinishedCloud;

/// The fusion of the checked views into dense/fused.ply. Where a GPU estimates and memory allows, it begins
/// beside: a view is fused as soon as it and its neighbours are checked and the view before it is fused.
class ViewFusion {
 public:
  /// @param backends  the first that can fuses; else, and where it fails, the CPU
  ViewFusion(SceneRun& run, const Backends& backends);

  /// Ends a fusion that has not been finished; nothing of it is kept.
  ~ViewFusion();

  ViewFusion(const ViewFusion&) = delete;
  ViewFusion& operator=(const ViewFusion&) = delete;

  /// Begins to fuse beside the estimation and `checks`, which must outlive this, unless there is a cloud. An
  /// error ends both by `checks.fail`; where memory does not suffice, `finish` fuses all.
  void begin_beside(ViewChecks& checks);

  /// Number of views whose points are all made. Thread-safe.
  int fused();

  /// Fuses what is left and writes the cloud, or keeps a finished one.
  /// @throws InputError when the cloud would be empty, with what is known of the reason
  /// @throws OutputError, OutOfMemory, Interrupted
  void finish();

 private:
  class Loader;

  void fuse_beside(ViewChecks& checks);
  void fuse_all(UnfinishedCloud& cloud, Loader& loader);
  void end_beside(const std::vector<int>& views);
  void commit(StepRecord record);
  void show_progress();
  void advance();

  SceneRun& run_;
  const Backends& backends_;
  std::unique_ptr<UnfinishedCloud> cloud_;  ///< null unless all its views are fused
  std::exception_ptr error_;                ///< of the fusion beside
  std::mutex mutex_;
  std::optional<Progress> progress_;
  int fused_ = 0;          ///< views
  std::stop_source stop_;  ///< of the fusion beside
  std::jthread thread_;    ///< the last member: it ends before what it uses
};

}  // namespace recon

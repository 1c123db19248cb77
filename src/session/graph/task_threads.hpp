#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>

#include "session/graph/background_work.hpp"
#include "session/graph/scheduler.hpp"

namespace recon {

/// Runs tasks on as many threads as there are tasks of RunsOn::kThread, and those of RunsOn::kSpare in an
/// arena of low priority: threads that wait for the disk are none of the computation.
class TaskThreads : public Executor {
 public:
  /// @param threads  of the arena, the one that helps included, >= 1
  explicit TaskThreads(int threads);

  /// Waits for what runs.
  ~TaskThreads() noexcept override;

  void start(RunsOn runs_on, std::function<void()> job) override;
  bool help(bool spare) override;

 private:
  std::atomic<int> spare_jobs_ = 0;
  oneapi::tbb::task_arena arena_;
  oneapi::tbb::task_group group_;
  BackgroundWork threads_;  ///< the last member: they end before what they use
};

}  // namespace recon

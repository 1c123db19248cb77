#pragma once

#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/arena.hpp"
#include "session/graph/scheduler.hpp"

namespace recon {

/// Views whose files are sent to the disk concurrently, so that its latency does not limit the work. Each has
/// up to five open files, and so has each that waits to be one of them.
inline constexpr int kConcurrentCommits = 32;

/// A thread pool that writes files while other threads compute. The number of unfinished jobs is bounded:
/// `submit` waits, so that results do not accumulate in memory.
class BackgroundWork {
 public:
  /// @param threads  >= 1, at most: they are created when there is work for them
  /// @param unfinished  max jobs that wait or run; with 0, `submit` runs the job itself
  BackgroundWork(int threads, int unfinished);

  /// Drops jobs that have not started, and waits for the rest.
  ~BackgroundWork();

  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// Runs the job itself where no thread can be created.
  /// @throws the exception of an earlier job, or of one that it runs itself
  void submit(std::function<void()> work);

  /// Waits until all jobs are done.
  /// @throws the first exception of a job
  void finish();

 private:
  void run(const std::stop_token& stop);

  void add_thread();

  const std::size_t max_threads_, limit_;
  std::mutex mutex_;
  std::condition_variable_any added_;  ///< work, for the threads
  std::condition_variable room_;       ///< in the queue, for those that submit
  std::condition_variable idle_;       ///< for `finish`
  std::deque<std::function<void()>> queue_;
  int running_ = 0;
  std::size_t waiting_ = 0;  ///< threads without work
  std::exception_ptr error_;
  std::vector<std::jthread> threads_;  ///< the last member: they end before what they use
};

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
  const MessageSubject subject_ = message_subject();  ///< of what the tasks belong to
  Arena arena_;
  oneapi::tbb::task_group group_;
  BackgroundWork threads_;  ///< the last member: they end before what they use
};

}  // namespace recon

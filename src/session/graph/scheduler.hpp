#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace recon {

/// The number of a task in its graph, in the order in which tasks are added.
using TaskId = int;

/// Where a task runs.
enum class RunsOn {
  kThread,  ///< on a thread of its own: it waits for a device, for the disk, or for its own parallel loops
  kSpare,   ///< with the processor time that threads leave
};

/// What a task takes of a pool from its beginning to its end.
struct Share {
  int pool = 0;
  std::size_t amount = 1;
  bool handed_on = false;  ///< to the task that `takes_over`: it is free when that one has ended
};

/// How a task ends that throws nothing.
enum class TaskEnd {
  kDone,
  kFailed,  ///< without a result: tasks that need it are not run
  kAgain,   ///< it has not begun, and is ready once more
};

/// A piece of work, such as the check of one view.
struct Task {
  int step = 0;  ///< what Scheduler::wait waits for
  RunsOn runs_on = RunsOn::kThread;
  std::function<TaskEnd()> run{};
  std::vector<TaskId> needs{};  ///< earlier tasks without whose results it is not run
  std::vector<TaskId> after{};  ///< earlier tasks that end before, with a result or without
  std::vector<Share> shares{};  ///< ready tasks whose first share is of the same pool begin in their order
  TaskId takes_over = -1;       ///< the task whose shares it takes over, if any
  bool saves = false;           ///< what is finished: it is run also when another task has thrown
};

/// The threads that run tasks.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Runs `job`, which throws nothing, where `runs_on` says or, where no thread can be created, before it
  /// returns. Thread-safe.
  virtual void start(RunsOn runs_on, std::function<void()> job) = 0;

  /// Called by a thread that waits for the end of tasks: with `spare` it takes part in the jobs of
  /// RunsOn::kSpare until all have ended. @returns whether there was one
  virtual bool help(bool spare) = 0;
};

/// Runs the tasks of a graph, each when those before it have ended and its pools have what it takes. Which of
/// the ready tasks begins next depends on their numbers alone. After an exception of one, or Ctrl-C, only
/// tasks that save what is finished begin.
class Scheduler {
 public:
  /// @param executor  outlives this
  /// @param pools     the amount of each pool
  Scheduler(Executor& executor, const std::vector<std::size_t>& pools);

  /// Begins nothing more, and waits for what runs.
  ~Scheduler();

  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Adds a task, which begins at the next `begin` or `wait` at the earliest. Its `run` is called once unless
  /// it ends with kAgain.
  TaskId add(Task task);

  /// Begins what is ready.
  void begin();

  /// Waits until all tasks of a step have ended.
  /// @param spare  the calling thread takes part in RunsOn::kSpare
  /// @throws the first exception of a task of any step, or Interrupted, when nothing runs any more
  /// @throws std::logic_error when tasks are left that can never begin
  void wait(int step, bool spare);

  /// Changes the amount of a pool. Thread-safe; more is taken at the next end of a task.
  void set_pool(int pool, std::size_t amount);

 private:
  struct Node {
    Task task;
    int waits_for = 0;                                 ///< number of tasks
    bool lost = false;                                 ///< it needs one that has no result
    bool ended = false;                                ///< without an exception
    bool done = false;                                 ///< ended with a result
    std::vector<Share> held{};                         ///< of the pools
    std::vector<std::pair<TaskId, bool>> followers{};  ///< and whether they need it
  };
  struct Pool {
    std::size_t amount = 0, taken = 0;
  };

  void follow(TaskId task, TaskId earlier, bool needed);
  void set_ready(TaskId task);
  bool may_begin(const Task& task) const;
  TaskId next();
  void release(Node& node, bool handed_on);
  void dispatch(std::unique_lock<std::mutex>& lock);
  void start(TaskId task, std::unique_lock<std::mutex>& lock);
  void run(TaskId task);
  void end(TaskId task, bool done);
  bool is_idle() const { return running_ == 0 && !dispatching_; }
  void announce();

  Executor& executor_;
  mutable std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::uint64_t changes_ = 0;
  std::vector<Pool> pools_;
  std::deque<Node> nodes_;
  std::vector<std::set<TaskId>> ready_;  ///< by the pool of their first share; the last: those without one
  std::map<int, int> left_;              ///< of each step the tasks that have not ended
  int running_ = 0;
  bool dispatching_ = false, stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace recon

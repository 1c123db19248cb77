#pragma once

#include <cstddef>
#include <functional>
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

}  // namespace recon

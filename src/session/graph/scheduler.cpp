#include "session/graph/scheduler.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "core/error.hpp"
#include "core/interrupt.hpp"

namespace recon {

Scheduler::Scheduler(Executor& executor, const std::vector<std::size_t>& pools)
    : executor_(executor), ready_(pools.size() + 1) {
  for (const std::size_t amount : pools) pools_.push_back({amount, 0});
}

Scheduler::~Scheduler() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  changed_.wait(lock, [this] { return is_idle(); });
}

TaskId Scheduler::add(Task task) {
  const std::lock_guard lock(mutex_);
  const auto id = static_cast<TaskId>(nodes_.size());
  ++left_[task.step];
  Node& node = nodes_.emplace_back(Node{std::move(task)});
  node.held.reserve(node.task.shares.size());  // so that nothing of `start` throws
  for (const TaskId earlier : node.task.needs) follow(id, earlier, true);
  for (const TaskId earlier : node.task.after) follow(id, earlier, false);
  if (node.waits_for == 0) node.lost ? end(id, false) : set_ready(id);
  return id;
}

void Scheduler::begin() {
  std::unique_lock lock(mutex_);
  dispatch(lock);
}

void Scheduler::wait(int step, bool spare) {
  std::unique_lock lock(mutex_);
  dispatch(lock);
  while (error_ || left_[step] > 0) {
    if (is_idle()) {
      if (error_) std::rethrow_exception(error_);
      throw std::logic_error("tasks are left that can never begin");
    }
    const std::uint64_t seen = changes_;
    lock.unlock();
    const bool helped = executor_.help(spare);
    lock.lock();
    if (helped) continue;
    changed_.wait(lock, [&] { return changes_ != seen; });
  }
}

void Scheduler::set_pool(int pool, std::size_t amount) {
  const std::lock_guard lock(mutex_);
  pools_[pool].amount = amount;
}

void Scheduler::follow(TaskId task, TaskId earlier, bool needed) {
  EXPECTS(earlier >= 0 && earlier < task);
  Node& before = nodes_[earlier];
  if (before.ended) {
    nodes_[task].lost |= needed && !before.done;
    return;
  }
  before.followers.emplace_back(task, needed);
  ++nodes_[task].waits_for;
}

void Scheduler::set_ready(TaskId task) {
  const std::vector<Share>& shares = nodes_[task].task.shares;
  (shares.empty() ? ready_.back() : ready_[shares.front().pool]).insert(task);
}

bool Scheduler::may_begin(const Task& task) const {
  return std::ranges::all_of(task.shares, [this](const Share& share) {
    return pools_[share.pool].taken + share.amount <= pools_[share.pool].amount;
  });
}

/// The next task to begin, which is ready no more; -1: there is none. Only the first of a queue may begin.
TaskId Scheduler::next() {
  for (std::set<TaskId>& queue : ready_) {
    const auto first =
        std::ranges::find_if(queue, [this](TaskId task) { return !error_ || nodes_[task].task.saves; });
    if (stopped_ || first == queue.end() || !may_begin(nodes_[*first].task)) continue;
    const TaskId task = *first;
    if (!error_ && !nodes_[task].task.saves) try {
        check_interrupted();
      } catch (...) {
        error_ = std::current_exception();
        return next();
      }
    queue.erase(first);
    return task;
  }
  return -1;
}

/// Begins all that may begin. Another thread that does so sees what is ready now.
void Scheduler::dispatch(std::unique_lock<std::mutex>& lock) {
  if (dispatching_) return;
  dispatching_ = true;
  for (TaskId task; (task = next()) >= 0;) start(task, lock);
  dispatching_ = false;
  announce();
}

void Scheduler::start(TaskId task, std::unique_lock<std::mutex>& lock) {
  Node& node = nodes_[task];
  node.held = node.task.shares;
  for (const Share& share : node.held) pools_[share.pool].taken += share.amount;
  ++running_;
  lock.unlock();
  std::exception_ptr error;
  try {
    executor_.start(node.task.runs_on, [this, task] { run(task); });
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (!error) return;
  --running_;
  if (!error_) error_ = error;
}

void Scheduler::run(TaskId task) {
  std::function<TaskEnd()> work;
  {
    const std::lock_guard lock(mutex_);
    work = std::move(nodes_[task].task.run);
  }
  TaskEnd result = TaskEnd::kFailed;
  std::exception_ptr error;
  try {
    result = work();
  } catch (...) {
    error = std::current_exception();
  }
  if (result != TaskEnd::kAgain) work = nullptr;  // what it holds is gone before it counts as ended
  std::unique_lock lock(mutex_);
  Node& node = nodes_[task];
  --running_;
  if (error || result == TaskEnd::kAgain) release(node, true);
  if (!error) try {
      if (result == TaskEnd::kAgain) {
        node.task.run = std::move(work);
        set_ready(task);
      } else {
        end(task, result == TaskEnd::kDone);
      }
    } catch (const std::bad_alloc&) {
      error = std::current_exception();
    }
  if (error && !error_) error_ = error;
  dispatch(lock);
  announce();
}

/// Ends a task and, one after the other, those that are lost without it.
void Scheduler::end(TaskId task, bool done) {
  std::vector<TaskId> ending = {task};
  while (!ending.empty()) {
    Node& node = nodes_[ending.back()];
    ending.pop_back();
    node.ended = true;
    node.done = std::exchange(done, false);
    release(node, false);
    if (node.task.takes_over >= 0) release(nodes_[node.task.takes_over], true);
    --left_[node.task.step];
    for (const auto& [follower, needs_it] : node.followers) {
      Node& next = nodes_[follower];
      next.lost |= needs_it && !node.done;
      if (--next.waits_for > 0) continue;
      next.lost ? ending.push_back(follower) : set_ready(follower);
    }
  }
}

/// Frees what a task holds.
/// @param handed_on  also the shares that another task takes over
void Scheduler::release(Node& node, bool handed_on) {
  std::erase_if(node.held, [&](const Share& share) {
    if (share.handed_on && !handed_on) return false;
    pools_[share.pool].taken -= share.amount;
    return true;
  });
}

void Scheduler::announce() {
  ++changes_;
  changed_.notify_all();
}

}  // namespace recon

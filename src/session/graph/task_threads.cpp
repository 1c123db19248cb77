#include "session/graph/task_threads.hpp"

#include <limits>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace recon {

BackgroundWork::BackgroundWork(int threads, int unfinished)
    : max_threads_(static_cast<std::size_t>(threads)), limit_(static_cast<std::size_t>(unfinished)) {
  EXPECTS(threads >= 1 && unfinished >= 0);
}

BackgroundWork::~BackgroundWork() {
  const std::lock_guard lock(mutex_);
  queue_.clear();
}

void BackgroundWork::submit(std::function<void()> work) {
  if (limit_ == 0) {
    work();
    return;
  }
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock,
               [this] { return queue_.size() + static_cast<std::size_t>(running_) < limit_ || error_; });
    if (error_) std::rethrow_exception(error_);
    if (queue_.size() >= waiting_ && threads_.size() < max_threads_) add_thread();
    if (threads_.empty()) {
      lock.unlock();
      work();
      return;
    }
    try {
      queue_.push_back(std::move(work));
    } catch (...) {
      room_.notify_one();  // what this one was woken for
      throw;
    }
  }
  added_.notify_one();
}

void BackgroundWork::add_thread() {
  try {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {  // fewer do the same work
  } catch (const std::bad_alloc&) {
  }
}

void BackgroundWork::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return (queue_.empty() && running_ == 0) || error_; });
  if (error_) std::rethrow_exception(error_);
}

void BackgroundWork::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++waiting_;
    added_.wait(lock, stop, [this] { return !queue_.empty(); });
    --waiting_;
    if (stop.stop_requested()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    work = nullptr;  // what it holds is gone before it counts as done
    lock.lock();
    --running_;
    if (error && !error_) error_ = error;
    error_ ? room_.notify_all() : room_.notify_one();
    if (error_ || (queue_.empty() && running_ == 0)) idle_.notify_all();
  }
}

namespace {

constexpr int kAnyNumber = std::numeric_limits<int>::max();

}  // namespace

TaskThreads::TaskThreads(int threads)
    : arena_(threads, 1, Arena::priority::low), threads_(kAnyNumber, kAnyNumber) {}

TaskThreads::~TaskThreads() noexcept {
  arena_.execute([this] { group_.wait(); });
}

void TaskThreads::start(RunsOn runs_on, std::function<void()> job) {
  if (runs_on == RunsOn::kThread) {
    threads_.submit([job = std::move(job), subject = subject_] {
      const SubjectScope scope(subject);
      job();
    });
    return;
  }
  ++spare_jobs_;
  std::shared_ptr<void> counted(nullptr, [this](void*) { --spare_jobs_; });
  const auto begun = std::make_shared<std::atomic_flag>();
  // A loop of a job that waits must not begin another job, which it would have to wait for.
  auto isolated = [job = std::move(job), begun, counted = std::move(counted)] {
    if (!begun->test_and_set()) oneapi::tbb::this_task_arena::isolate(job);
  };
  try {
    arena_.enqueue(group_.defer(std::move(isolated)));
  } catch (...) {
    // Where no worker can be created, the job is in the queue nevertheless: it runs there, or never.
    if (!begun->test_and_set()) throw;
  }
}

bool TaskThreads::help(bool spare) {
  if (!spare || spare_jobs_ == 0) return false;
  arena_.execute([this] { group_.wait(); });
  return true;
}

}  // namespace recon

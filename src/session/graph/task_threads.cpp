#include "session/graph/task_threads.hpp"

#include <limits>
#include <utility>

namespace recon {

namespace {

constexpr int kAnyNumber = std::numeric_limits<int>::max();

}  // namespace

TaskThreads::TaskThreads(int threads)
    : arena_(threads, 1, oneapi::tbb::task_arena::priority::low), threads_(kAnyNumber, kAnyNumber) {}

TaskThreads::~TaskThreads() noexcept {
  help(true);
}

void TaskThreads::start(RunsOn runs_on, std::function<void()> job) {
  if (runs_on == RunsOn::kThread) {
    threads_.submit(std::move(job));
    return;
  }
  ++spare_jobs_;
  // A loop of a job that waits must not begin another job, which it would have to wait for.
  const auto isolated = [this, job = std::move(job)] {
    oneapi::tbb::this_task_arena::isolate(job);
    --spare_jobs_;
  };
  arena_.enqueue(group_.defer(isolated));
}

bool TaskThreads::help(bool spare) {
  if (!spare || spare_jobs_ == 0) return false;
  arena_.execute([this] { group_.wait(); });
  return true;
}

}  // namespace recon

#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <utility>

#include "core/interrupt.hpp"

namespace recon {

/// Stores the first exception of concurrent calls. No exception may propagate through a oneTBB algorithm: it
/// would cancel all loops nested in the algorithm's other calls, including OpenCV's, which would then return
/// incomplete results without an exception.
class FirstException {
 public:
  /// Calls `body()`, unless an earlier call has thrown, and stores its exception.
  template <class Body>
  void guard(const Body& body) noexcept {
    if (thrown()) return;
    try {
      body();
    } catch (...) {
      if (!thrown_.exchange(true)) exception_ = std::current_exception();
    }
  }

  bool thrown() const noexcept { return thrown_.load(std::memory_order_relaxed); }

  /// Throws the stored exception, if any. Call it after all calls have ended.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic<bool> thrown_{false};
  std::exception_ptr exception_;
};

/// Calls `body(i)` for i in [0, count), on all threads of the surrounding task arena. Calls must be
/// independent; the result is then the same for any number of threads. An exception of one call ends the loop
/// and is rethrown after the running calls have ended. A loop that returns normally has made all its calls,
/// also when nested in another loop that fails.
/// @throws Interrupted before a call once the user has requested a stop
template <class Body>
void parallel_for(int count, const Body& body, int grain = 1) {
  FirstException first;
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<int>(0, count, static_cast<std::size_t>(grain)),
                            [&](const oneapi::tbb::blocked_range<int>& range) {
                              first.guard([&] {
                                for (int i = range.begin(); i != range.end(); ++i) {
                                  check_interrupted();
                                  body(i);
                                }
                              });
                            });
  first.rethrow();
}

/// Number of usable threads, >= 1: the processors in the affinity mask of the process, or the CPU quota of
/// its cgroup (version 1 or 2), rounded up, if that is lower.
/// @param root  root of /proc and the cgroup mounts; tests pass another one than "/"
int available_threads(const std::filesystem::path& root = "/");

/// Limits the number of threads of the whole process during its lifetime.
class ThreadLimit {
 public:
  /// @param threads  >= 1, or 0 for `available_threads()`
  explicit ThreadLimit(int threads = 0);

  int threads() const { return threads_; }

  /// Calls `body()` with parallel loops on at most `threads()` threads, including the caller's, and returns
  /// its result.
  template <class Body>
  auto run(Body&& body) {
    return arena_.execute(std::forward<Body>(body));
  }

 private:
  int threads_;
  oneapi::tbb::global_control control_;
  oneapi::tbb::task_arena arena_;
};

}  // namespace recon

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

/// The first exception of calls that run concurrently. No exception may pass through a oneTBB algorithm: it
/// would cancel every loop nested in the algorithm's other calls, OpenCV's loops included, and these would
/// return early and without an exception, their results half made.
class FirstException {
 public:
  /// Calls `body()`, unless an earlier call has thrown, and keeps what it throws.
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

  /// Call when all calls have ended.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic<bool> thrown_{false};
  std::exception_ptr exception_;
};

/// Calls `body(i)` for i in [0, count), on all threads that the surrounding task arena has. Calls must not
/// depend on each other; the result is then the same for any number of threads. An exception of one call ends
/// the loop and is thrown on, once the calls that have begun have ended. A loop that returns has done all its
/// calls, also where it is nested in another one that fails.
/// @throws Interrupted before a call once the user has asked to stop
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

/// Number of threads that make sense here, >= 1: the processors this process may run on, or fewer where a CPU
/// quota of its cgroup (version 1 or 2) grants less time than that; parts of a processor are rounded up.
/// @param root  where /proc and the cgroup mounts are looked for; other than "/" for tests
int available_threads(const std::filesystem::path& root = "/");

/// Bounds the threads of everything run inside it. As long as one lives, the whole process stays within its
/// number.
class ThreadLimit {
 public:
  /// @param threads  >= 1, or 0 for `available_threads()`
  explicit ThreadLimit(int threads = 0);

  int threads() const { return threads_; }

  /// Calls `body()` with parallel loops on at most `threads()` threads, the caller's included, and returns
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

#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

#include "core/arena.hpp"
#include "core/counted_memory.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/system_limits.hpp"

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
/// also when nested in another loop that fails. Makes no calls where memory is counted, see CountedMemory.
/// @throws Interrupted before a call once the user has requested a stop
template <class Body>
void parallel_for(int count, const Body& body, int grain = 1) {
  if (memory_is_counted()) return;
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

/// The work of threads that do `count` equal parts of `work`, including idle time: the number of threads
/// times the work of the one that ends last.
inline double shared_evenly(double work, int count, int threads) {
  EXPECTS(threads >= 1 && count >= 1);
  const int rounds = (count + threads - 1) / threads;
  return work / count * rounds * threads;
}

/// The first filter of a pipeline: the numbers [next, count), until a call has failed.
inline oneapi::tbb::filter<void, int> counting_filter(int& next, int count, const FirstException& first) {
  return oneapi::tbb::make_filter<void, int>(oneapi::tbb::filter_mode::serial_in_order,
                                             [&next, count, &first](oneapi::tbb::flow_control& control) {
                                               if (next < count && !first.thrown()) return next++;
                                               control.stop();
                                               return 0;
                                             });
}

/// Calls `body(i)` for i in [0, count), at most `at_once` concurrently, each of which may use the parallel
/// loops of the surrounding arena. For work whose memory must be bounded. The first exception ends the loop
/// and is rethrown once the calls that have begun have ended; the loops nested in these are not cut short.
/// @param at_once  >= 1
template <class Body>
void bounded_parallel_for(int count, int at_once, const Body& body) {
  EXPECTS(at_once >= 1);
  FirstException first;
  int next = 0;
  const auto call = oneapi::tbb::make_filter<int, void>(oneapi::tbb::filter_mode::parallel,
                                                        [&](int i) { first.guard([&] { body(i); }); });
  oneapi::tbb::parallel_pipeline(static_cast<std::size_t>(at_once),
                                 counting_filter(next, count, first) & call);
  first.rethrow();
}

/// Calls `body(i, slot)` for i in [0, count) as `parallel_for` does, and after each `in_order(i, slot)`, one
/// at a time and in the order of i. An i has a slot in [0, slots) of its own for both calls, so at most
/// `slots` are begun and not ended.
/// @param slots  >= 1
template <class Body, class InOrder>
void parallel_for_in_order(int count, int slots, const Body& body, const InOrder& in_order) {
  using oneapi::tbb::filter_mode;
  EXPECTS(slots >= 1);
  FirstException first;
  int next = 0;
  // They end in order, and at most `slots` are begun: the one that had the same slot before has ended.
  const auto call = oneapi::tbb::make_filter<int, int>(filter_mode::parallel, [&](int i) {
    first.guard([&] {
      check_interrupted();
      body(i, i % slots);
    });
    return i;
  });
  const auto end = oneapi::tbb::make_filter<int, void>(
      filter_mode::serial_in_order, [&](int i) { first.guard([&] { in_order(i, i % slots); }); });
  oneapi::tbb::parallel_pipeline(static_cast<std::size_t>(slots),
                                 counting_filter(next, count, first) & call & end);
  first.rethrow();
}

/// Limits the number of threads of the whole process during its lifetime.
class ThreadLimit {
 public:
  /// @param threads  >= 1, or 0 for `available_threads()`
  explicit ThreadLimit(int threads = 0)
      : threads_(threads == 0 ? available_threads() : threads),
        control_(oneapi::tbb::global_control::max_allowed_parallelism,
                 static_cast<std::size_t>(std::max(1, threads_))),
        arena_(std::max(1, threads_)) {
    EXPECTS(threads >= 0);
  }

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
  Arena arena_;
};

}  // namespace recon

#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace recon {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
  for (const int count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
    parallel_for(count, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& n : calls) EXPECT_EQ(n, 1);
  }
}

TEST(ParallelFor, ThrowsOnWhatACallThrows) {
  EXPECT_THROW(parallel_for(100,
                            [](int i) {
                              if (i == 37) throw std::runtime_error("37");
                            }),
               std::runtime_error);
}

constexpr int kNested = 64;

/// Calls `loop(call)` for 16 calls, of which some throw and the others run `nested(count)`, which increments
/// `count` kNested times; returns the number of nested loops that returned incomplete.
template <class Loop, class Nested>
int incomplete_nested_loops(const Loop& loop, const Nested& nested) {
  std::atomic<int> incomplete{0};
  for (int round = 0; round < 20; ++round)
    ThreadLimit(4).run([&] {
      EXPECT_THROW(loop([&](int i) {
                     if (i % 8 == 7) throw std::runtime_error("a call fails");
                     std::atomic<int> done{0};
                     nested(done);
                     if (done != kNested) ++incomplete;
                   }),
                   std::runtime_error);
    });
  return incomplete;
}

void count_slowly(std::atomic<int>& done) {
  std::this_thread::sleep_for(std::chrono::microseconds(20));
  ++done;
}

void nested_loop(std::atomic<int>& done) {
  parallel_for(kNested, [&](int) { count_slowly(done); });
}

void nested_loop_of_a_library(std::atomic<int>& done) {
  oneapi::tbb::parallel_for(0, kNested, [&](int) { count_slowly(done); });
}

TEST(ParallelFor, FailingCallsDoNotCutShortTheLoopsNestedInOthers) {
  const auto loop = [](const auto& call) { parallel_for(16, call); };
  EXPECT_EQ(incomplete_nested_loops(loop, nested_loop), 0);
  EXPECT_EQ(incomplete_nested_loops(loop, nested_loop_of_a_library), 0);
}

TEST(BoundedParallelFor, FailingCallsDoNotCutShortTheLoopsNestedInOthers) {
  const auto loop = [](const auto& call) { bounded_parallel_for(16, 4, call); };
  EXPECT_EQ(incomplete_nested_loops(loop, nested_loop), 0);
  EXPECT_EQ(incomplete_nested_loops(loop, nested_loop_of_a_library), 0);
}

TEST(BoundedParallelFor, CallsEachOnceAndFewAtATime) {
  std::vector<std::atomic<int>> calls(100);
  std::atomic<int> now{0}, most{0};
  bounded_parallel_for(100, 2, [&](int i) {
    const int running = ++now;
    for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    ++calls[static_cast<std::size_t>(i)];
    --now;
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_LE(most, 2);
  EXPECT_THROW(bounded_parallel_for(5, 2, [](int) { throw std::runtime_error("bad"); }), std::runtime_error);
}

TEST(ParallelForInOrder, EndsInOrderAndKeepsSlotsUntilThen) {
  for (const int slots : {1, 3, 64}) {
    std::vector<std::atomic<int>> owner(static_cast<std::size_t>(slots));
    for (auto& it : owner) it = -1;
    std::atomic<int> misused{0};
    std::vector<int> ended;
    ThreadLimit(4).run([&] {
      parallel_for_in_order(
          200, slots,
          [&](int i, int slot) {
            if (owner[static_cast<std::size_t>(slot)].exchange(i) != -1) ++misused;
            std::this_thread::sleep_for(std::chrono::microseconds(i % 7 == 0 ? 300 : 10));
          },
          [&](int i, int slot) {
            if (owner[static_cast<std::size_t>(slot)].exchange(-1) != i) ++misused;
            ended.push_back(i);
          });
    });
    EXPECT_EQ(misused, 0) << slots << " slots";
    ASSERT_EQ(ended.size(), 200u);
    for (int i = 0; i < 200; ++i) ASSERT_EQ(ended[static_cast<std::size_t>(i)], i);
  }
}

TEST(ParallelForInOrder, ThrowsOnWhatEitherCallThrowsAndEndsNothingAfterIt) {
  const auto run = [](int body_fails, int end_fails) {
    int last = -1;
    EXPECT_THROW(parallel_for_in_order(
                     100, 8,
                     [&](int i, int) {
                       if (i == body_fails) throw std::runtime_error("the first call");
                     },
                     [&](int i, int) {
                       if (i == end_fails) throw std::runtime_error("the second call");
                       last = i;
                     }),
                 std::runtime_error);
    return last;
  };
  EXPECT_LT(run(37, -1), 37);
  EXPECT_EQ(run(-1, 37), 36);
}

/// Number of threads active inside a limit, with enough slow work for all of them to take part.
std::size_t threads_seen(int limit) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  ThreadLimit(limit).run([&] {
    parallel_for(200, [&](int) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  });
  return seen.size();
}

TEST(ThreadLimit, BoundsTheThreads) {
  EXPECT_EQ(threads_seen(1), 1u);
  EXPECT_LE(threads_seen(2), 2u);
  EXPECT_LE(threads_seen(3), 3u);
}

TEST(ThreadLimit, GivesMoreThreadsThanProcessorsWhenAsked) {
  EXPECT_GT(threads_seen(8), 1u);
}

TEST(ThreadLimit, ReturnsTheResultAndKnowsItsNumber) {
  ThreadLimit limit(3);
  EXPECT_EQ(limit.threads(), 3);
  EXPECT_EQ(limit.run([] { return 42; }), 42);
  EXPECT_EQ(ThreadLimit().threads(), available_threads());
  EXPECT_THROW(ThreadLimit(-1), std::logic_error);
}

}  // namespace
}  // namespace recon

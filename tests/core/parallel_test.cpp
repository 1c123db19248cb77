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

/// Threads seen at work inside a limit, with enough slow work for all of them to take part.
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

// Work that a step hands to threads of its own, such as writing files.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/error.hpp"
#include "session/graph/task_threads.hpp"

namespace recon {
namespace {

TEST(BackgroundWork, DoesAllAndBoundsTheQueue) {
  std::atomic<int> done = 0, begun = 0;
  BackgroundWork work(2, 3);
  for (int i = 0; i < 50; ++i) {
    work.submit([&] {
      ++begun;
      usleep(200);
      ++done;
    });
    EXPECT_LE(i + 1 - done, 3);
  }
  work.finish();
  EXPECT_EQ(done, 50);
}

/// With this much more address space: 0 if the work is done by threads, 7 if by the one that submits it.
int work_within(rlim_t more_bytes) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  BackgroundWork work(256, 1);
  std::atomic<int> done = 0, here = 0;
  for (int i = 0; i < 10; ++i)
    work.submit([&, self = std::this_thread::get_id()] {
      ++done;
      here += std::this_thread::get_id() == self;
    });
  work.finish();
  if (done != 10) return 2;
  return here == 0 ? 0 : here == 10 ? 7 : 3;
}

TEST(BackgroundWorkDeathTest, WorksWithTheThreadsThatCanBeCreated) {
  // In a process of its own: this one may keep stacks of threads that other tests had.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr rlim_t kMiB = rlim_t{1} << 20;
  EXPECT_EXIT(std::_Exit(work_within(64 * kMiB)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(work_within(kMiB)), testing::ExitedWithCode(7), "");
}

TEST(BackgroundWork, CreatesThreadsWhenThereIsWork) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  BackgroundWork work(8, 8);
  EXPECT_EQ(threads(), before);
  for (int i = 0; i < 3; ++i) {
    work.submit([] {});
    work.finish();
  }
  EXPECT_GT(threads(), before);
  EXPECT_LT(threads(), before + 8);
}

TEST(BackgroundWork, OfNoQueueIsDoneAtOnce) {
  BackgroundWork work(2, 0);
  bool done = false;
  work.submit([&] { done = true; });
  EXPECT_TRUE(done);
  EXPECT_THROW(work.submit([] { throw OutputError("full"); }), OutputError);
}

TEST(BackgroundWork, HandsOnTheFirstError) {
  BackgroundWork work(1, 1);
  work.submit([] { throw OutputError("full"); });
  EXPECT_THROW(work.finish(), OutputError);
  EXPECT_THROW(work.submit([] {}), OutputError);
}

}  // namespace
}  // namespace recon

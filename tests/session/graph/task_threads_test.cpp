// Tasks on threads.

#include "session/graph/task_threads.hpp"

#include <gtest/gtest.h>

#include <latch>

#include "core/parallel.hpp"

namespace recon {
namespace {

TEST(TaskThreads, TasksThatWaitForEachOtherHaveThreadsOfTheirOwn) {
  constexpr int kTasks = 20;
  TaskThreads threads(1);
  Scheduler scheduler(threads, {});
  std::latch all(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    Task task;
    task.run = [&] { return all.arrive_and_wait(), TaskEnd::kDone; };
    scheduler.add(std::move(task));
  }
  scheduler.wait(0, false);
  EXPECT_TRUE(all.try_wait());
}

/// As many as the pool allows, and no more, though each waits for loops in which another could be begun.
TEST(TaskThreads, SpareTasksKeepToTheirPool) {
  constexpr int kAtOnce = 3;
  ThreadLimit limit(4);
  limit.run([&] {
    TaskThreads threads(4);
    Scheduler scheduler(threads, {kAtOnce});
    std::atomic<int> now = 0, most = 0, done = 0;
    for (int i = 0; i < 60; ++i) {
      Task task;
      task.runs_on = RunsOn::kSpare;
      task.shares = {{0}};
      task.run = [&] {
        const int running = ++now;
        for (int seen = most; seen < running && !most.compare_exchange_weak(seen, running);) {
        }
        parallel_for(100, [&](int) { ++done; });
        --now;
        return TaskEnd::kDone;
      };
      scheduler.add(std::move(task));
    }
    scheduler.wait(0, true);
    EXPECT_EQ(done, 6000);
    EXPECT_LE(most, kAtOnce);
  });
}

TEST(TaskThreads, TheThreadThatWaitsTakesPart) {
  ThreadLimit limit(2);
  limit.run([&] {
    TaskThreads threads(2);
    Scheduler scheduler(threads, {});
    std::latch both(2);
    for (int i = 0; i < 2; ++i) {
      Task task;
      task.runs_on = RunsOn::kSpare;
      task.run = [&] { return both.arrive_and_wait(), TaskEnd::kDone; };
      scheduler.add(std::move(task));
    }
    scheduler.wait(0, true);
    EXPECT_TRUE(both.try_wait());
  });
}

TEST(TaskThreads, SpareTasksRunWithoutHelpToo) {
  ThreadLimit limit(1);
  limit.run([&] {
    for (const bool help : {false, true}) {
      TaskThreads threads(1);
      Scheduler scheduler(threads, {2});
      int done = 0;
      for (int i = 0; i < 10; ++i) {
        Task task;
        task.runs_on = RunsOn::kSpare;
        task.shares = {{0, 2}};
        task.run = [&] { return ++done, TaskEnd::kDone; };
        scheduler.add(std::move(task));
      }
      scheduler.wait(0, help);
      EXPECT_EQ(done, 10);
    }
  });
}

}  // namespace
}  // namespace recon

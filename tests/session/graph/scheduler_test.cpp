// The order, the pools and the failures of tasks, on threads that the test plays.

#include "session/graph/scheduler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <stdexcept>
#include <string>

#include "core/error.hpp"
#include "core/interrupt.hpp"

namespace recon {
namespace {

using testing::ElementsAre;

/// Keeps the jobs that are started until the test runs one of them.
class PlayedThreads : public Executor {
 public:
  void start(RunsOn, std::function<void()> job) override { jobs_.push_back(std::move(job)); }
  bool help(bool) override { return run(0); }

  std::size_t running() const { return jobs_.size(); }

  /// Runs a job to its end.
  bool run(std::size_t index) {
    if (index >= jobs_.size()) return false;
    const std::function<void()> job = std::move(jobs_[index]);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(index));
    job();
    return true;
  }

 private:
  std::vector<std::function<void()>> jobs_;
};

/// Runs each job before `start` returns, as where no thread can be created.
class NoThreads : public Executor {
 public:
  void start(RunsOn, std::function<void()> job) override { job(); }
  bool help(bool) override { return false; }
};

class SchedulerTest : public testing::Test {
 protected:
  enum Pool { kSlots, kBytes };
  enum Step { kFirst, kSecond };

  /// A task that notes its end.
  Task task(const std::string& name, std::vector<TaskId> needs = {}, std::vector<Share> shares = {}) {
    Task result;
    result.run = [this, name] {
      ended_.push_back(name);
      return TaskEnd::kDone;
    };
    result.needs = std::move(needs);
    result.shares = std::move(shares);
    return result;
  }

  Task failing(Task task, TaskEnd how = TaskEnd::kFailed) {
    task.run = [run = task.run, how] {
      run();
      return how;
    };
    return task;
  }

  Task throwing(Task task, const std::string& what) {
    task.run = [run = task.run, what]() -> TaskEnd {
      run();
      throw OutputError(what);
    };
    return task;
  }

  std::string error_of(int step) {
    try {
      scheduler_.wait(step, true);
      return "none";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  PlayedThreads threads_;
  Scheduler scheduler_{threads_, {2, 100}};
  std::vector<std::string> ended_;
};

TEST_F(SchedulerTest, TasksBeginWhenThoseThatTheyNeedHaveEnded) {
  const TaskId a = scheduler_.add(task("a")), b = scheduler_.add(task("b"));
  const TaskId c = scheduler_.add(task("c", {a, b}));
  scheduler_.add(task("d", {c}));
  scheduler_.begin();
  EXPECT_EQ(threads_.running(), 2u);
  threads_.run(1);
  EXPECT_EQ(threads_.running(), 1u);
  threads_.run(0);
  EXPECT_EQ(threads_.running(), 1u);
  scheduler_.wait(kFirst, true);
  EXPECT_THAT(ended_, ElementsAre("b", "a", "c", "d"));
}

TEST_F(SchedulerTest, ReadyTasksBeginInTheirOrder) {
  const TaskId first = scheduler_.add(task("first"));
  for (int i = 0; i < 12; ++i)
    scheduler_.add(
        task(std::to_string(i), i % 3 == 0 ? std::vector{first} : std::vector<TaskId>{}, {{kSlots, 2}}));
  scheduler_.begin();
  threads_.run(1);
  scheduler_.wait(kFirst, true);
  // 1 was begun before those that need the first were ready, which then come before all of higher numbers.
  EXPECT_THAT(ended_, ElementsAre("first", "1", "0", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"));
}

TEST_F(SchedulerTest, PoolsBoundWhatRuns) {
  for (int i = 0; i < 5; ++i) scheduler_.add(task("slot", {}, {{kSlots}}));
  scheduler_.begin();
  EXPECT_EQ(threads_.running(), 2u);
  threads_.run(1);
  EXPECT_EQ(threads_.running(), 2u);
  scheduler_.set_pool(kSlots, 3);
  threads_.run(0);
  EXPECT_EQ(threads_.running(), 3u);
  scheduler_.set_pool(kSlots, 0);
  while (threads_.run(0)) {
  }
  EXPECT_EQ(ended_.size(), 5u) << "what runs goes on";
}

TEST_F(SchedulerTest, ATaskWaitsForAllOfItsShares) {
  scheduler_.add(task("large", {}, {{kSlots}, {kBytes, 70}}));
  scheduler_.add(task("waits", {}, {{kSlots}, {kBytes, 40}}));
  scheduler_.add(task("small", {}, {{kSlots}, {kBytes, 1}}));
  scheduler_.add(task("elsewhere", {}, {{kBytes, 30}}));
  scheduler_.begin();
  EXPECT_EQ(threads_.running(), 2u) << "a small one does not pass by one that waits in its queue";
  threads_.run(1);
  EXPECT_THAT(ended_, ElementsAre("elsewhere"));
  scheduler_.wait(kFirst, true);
  EXPECT_THAT(ended_, ElementsAre("elsewhere", "large", "waits", "small"));
}

TEST_F(SchedulerTest, SharesAreHandedOn) {
  std::vector<TaskId> results;
  for (int i = 0; i < 3; ++i) {
    const TaskId result = scheduler_.add(task("made", {}, {{kSlots, 1, true}}));
    Task save = task("saved", {result}, {{kBytes}});
    save.takes_over = result;
    results.push_back(scheduler_.add(std::move(save)));
  }
  scheduler_.begin();
  EXPECT_EQ(threads_.running(), 2u);
  threads_.run(0);
  threads_.run(0);
  EXPECT_EQ(threads_.running(), 2u) << "two results wait to be saved: no third one is made";
  threads_.run(0);
  EXPECT_EQ(threads_.running(), 2u);
  scheduler_.wait(kFirst, true);
  EXPECT_THAT(ended_, ElementsAre("made", "made", "saved", "saved", "made", "saved"));
}

TEST_F(SchedulerTest, SharesOfAFailedTaskAreHandedOnToNobody) {
  for (int i = 0; i < 4; ++i) {
    const TaskId result = scheduler_.add(failing(task("failed", {}, {{kSlots, 2, true}})));
    Task save = task("saved", {result});
    save.takes_over = result;
    scheduler_.add(std::move(save));
  }
  scheduler_.wait(kFirst, true);
  EXPECT_THAT(ended_, ElementsAre("failed", "failed", "failed", "failed"));
}

TEST_F(SchedulerTest, AFailedTaskTakesDownWhatNeedsItOnly) {
  const TaskId good = scheduler_.add(task("good")), bad = scheduler_.add(failing(task("bad")));
  const TaskId lost = scheduler_.add(task("lost", {good, bad}));
  scheduler_.add(task("lost too", {lost}));
  Task after = task("after", {good});
  after.after = {bad, lost};
  scheduler_.add(std::move(after));
  scheduler_.wait(kFirst, true);
  EXPECT_THAT(ended_, ElementsAre("good", "bad", "after"));
  scheduler_.add(task("lost later", {lost}));
  scheduler_.wait(kFirst, true);
  EXPECT_EQ(ended_.size(), 3u);
}

TEST_F(SchedulerTest, ATaskThatEndsToBeginAgainKeepsItsPlace) {
  int tries = 0;
  Task again = task("again", {}, {{kSlots, 2}});
  again.run = [&] { return ended_.push_back("again"), ++tries < 3 ? TaskEnd::kAgain : TaskEnd::kDone; };
  scheduler_.add(std::move(again));
  scheduler_.add(task("other", {}, {{kSlots, 2}}));
  scheduler_.wait(kFirst, true);
  EXPECT_THAT(ended_, ElementsAre("again", "again", "again", "other"));
}

TEST_F(SchedulerTest, TheFirstErrorWinsAndNothingElseBegins) {
  scheduler_.add(throwing(task("a", {}, {{kSlots}}), "first"));
  scheduler_.add(throwing(task("b", {}, {{kSlots}}), "second"));
  scheduler_.add(task("c", {}, {{kSlots}}));
  EXPECT_EQ(error_of(kFirst), "first");
  EXPECT_THAT(ended_, ElementsAre("a", "b"));
  EXPECT_EQ(error_of(kSecond), "first") << "of any step";
}

TEST_F(SchedulerTest, WhatIsFinishedIsSavedAfterAnError) {
  const TaskId made = scheduler_.add(task("made", {}, {{kSlots}}));
  scheduler_.add(throwing(task("bad", {}, {{kSlots}}), "error"));
  scheduler_.add(task("not begun", {}, {{kSlots}}));
  Task save = task("saved", {made}, {{kSlots}});
  save.saves = true;
  scheduler_.add(std::move(save));
  scheduler_.begin();
  threads_.run(1);
  EXPECT_EQ(error_of(kFirst), "error");
  EXPECT_THAT(ended_, ElementsAre("bad", "made", "saved"));
}

TEST_F(SchedulerTest, AnInterruptFinishesWhatRunsAndBeginsNothing) {
  for (int i = 0; i < 4; ++i) scheduler_.add(task("runs", {}, {{kSlots}}));
  scheduler_.begin();
  set_fault_handler([](FaultPoint point) {
    if (point == FaultPoint::kWork) throw Interrupted();
  });
  EXPECT_THROW(scheduler_.wait(kFirst, true), Interrupted);
  set_fault_handler(nullptr);
  EXPECT_EQ(ended_.size(), 2u);
  EXPECT_EQ(threads_.running(), 0u);
}

TEST_F(SchedulerTest, WaitsForAStepOnly) {
  scheduler_.add(task("a"));
  Task other = task("b");
  other.step = kSecond;
  scheduler_.add(std::move(other));
  scheduler_.wait(kFirst, true);
  EXPECT_THAT(ended_, ElementsAre("a"));
  EXPECT_EQ(threads_.running(), 1u);
  scheduler_.wait(kSecond, true);
}

TEST_F(SchedulerTest, SaysThatTasksCanNeverBegin) {
  scheduler_.add(task("large", {}, {{kSlots, 3}}));
  EXPECT_THROW(scheduler_.wait(kFirst, true), std::logic_error);
}

/// Whichever thread is the first to end, each task runs once and after those that it needs.
TEST_F(SchedulerTest, TakesAnyOrderOfEnds) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    PlayedThreads threads;
    Scheduler scheduler(threads, {3, 5});
    std::vector<int> ended(60);
    int running_slots = 0;
    for (int i = 0; i < std::ssize(ended); ++i) {
      Task it;
      for (int j = 0; j < i; ++j)
        if (random() % 8 == 0) it.needs.push_back(j);
      it.run = [&, i, needs = it.needs] {
        for (const TaskId before : needs) EXPECT_EQ(ended[static_cast<std::size_t>(before)], 1);
        ++ended[static_cast<std::size_t>(i)];
        return TaskEnd::kDone;
      };
      it.shares = {{kSlots, 1 + random() % 3}, {kBytes, random() % 6}};
      scheduler.add(std::move(it));
    }
    scheduler.begin();
    while (threads.running() > 0) {
      running_slots = std::max(running_slots, static_cast<int>(threads.running()));
      threads.run(random() % threads.running());
    }
    scheduler.wait(kFirst, true);
    EXPECT_THAT(ended, testing::Each(1)) << "seed " << seed;
    EXPECT_LE(running_slots, 3);
  }
}

TEST(SchedulerWithoutThreads, DoesAllInTheirOrder) {
  NoThreads none;
  Scheduler scheduler(none, {1});
  constexpr int kTasks = 100000;  // each of which begins the next one
  std::vector<TaskId> ended;
  for (int i = 0; i < kTasks; ++i) {
    Task task;
    if (i > 0) task.needs = {i - 1};
    task.run = [&, i] { return ended.push_back(i), TaskEnd::kDone; };
    scheduler.add(std::move(task));
  }
  scheduler.wait(0, false);
  ASSERT_EQ(ended.size(), static_cast<std::size_t>(kTasks));
  EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
}

}  // namespace
}  // namespace recon

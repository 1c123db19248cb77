#include "core/progress.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>
#include <vector>

namespace recon {
namespace {

using namespace std::chrono_literals;

class ProgressTest : public testing::Test {
 protected:
  std::chrono::steady_clock::time_point now_{};
  std::ostringstream out_;
  Progress::Clock clock_ = [this] { return now_; };
};

TEST_F(ProgressTest, LinesComeNowAndThenAndAtTheEnd) {
  {
    Progress progress("depth maps", 10, ProgressStyle::kLines, out_, clock_);
    for (int i = 0; i < 10; ++i) {
      now_ += 2s;
      progress.advance();
    }
  }
  EXPECT_EQ(out_.str(),
            "depth maps: 3 of 10 (30 %), about 14 s left\n"
            "depth maps: 6 of 10 (60 %), about 8 s left\n"
            "depth maps: 9 of 10 (90 %), about 2 s left\n"
            "depth maps: 10 of 10 (100 %), 20 s\n");
}

/// Tenths below 10 s, none below 0.1 s.
TEST_F(ProgressTest, EndsSayWhatTheStepTook) {
  const auto end_after = [&](std::chrono::milliseconds passed) {
    out_.str("");
    Progress progress("step", 1, ProgressStyle::kLines, out_, clock_);
    now_ += passed;
    progress.advance();
    return out_.str();
  };
  const std::pair<std::chrono::milliseconds, const char*> ends[] = {
      {0ms, "0.1 s"},   {120ms, "0.1 s"},  {1460ms, "1.5 s"}, {9940ms, "9.9 s"},
      {9960ms, "10 s"}, {10400ms, "10 s"}, {99s, "99 s"},     {10min, "10 min"}};
  for (const auto& [passed, text] : ends)
    EXPECT_EQ(end_after(passed), std::string("step: 1 of 1 (100 %), ") + text + "\n");
}

TEST_F(ProgressTest, OfKeptStepsAloneHasNoLine) {
  {
    Progress progress("views", 3, ProgressStyle::kLines, out_, clock_);
    progress.keep(2);
    progress.keep(1);
  }
  EXPECT_EQ(out_.str(), "");
  {
    Progress progress("views", 3, ProgressStyle::kLines, out_, clock_);
    progress.keep(2);
    progress.advance();
  }
  EXPECT_EQ(out_.str(), "views: 3 of 3 (100 %), 0.1 s\n");
}

TEST_F(ProgressTest, ObjectsSayWhatIsLeftWhereItIsKnown) {
  {
    Progress progress("depth maps", 4, ProgressStyle::kJson, out_, clock_);
    now_ += 2s;
    progress.advance();
    now_ += 10ms;
    progress.advance();
    now_ += 1990ms;
    progress.advance();
    now_ += 1s;
    progress.advance();
  }
  { Progress predicted("fusion", 2, ProgressStyle::kJson, out_, clock_, 3); }
  EXPECT_EQ(out_.str(),
            "{\"step\":\"depth maps\",\"done\":0,\"total\":4,\"seconds\":0.0}\n"
            "{\"step\":\"depth maps\",\"done\":1,\"total\":4,\"seconds\":2.0,\"left\":6.0}\n"
            "{\"step\":\"depth maps\",\"done\":3,\"total\":4,\"seconds\":4.0,\"left\":1.333}\n"
            "{\"step\":\"depth maps\",\"done\":4,\"total\":4,\"seconds\":5.0,\"left\":0}\n"
            "{\"step\":\"fusion\",\"done\":0,\"total\":2,\"seconds\":0.0,\"left\":3.0}\n");
}

TEST_F(ProgressTest, LongTimesAreInMinutesAndHours) {
  {
    Progress progress("views", 1000, ProgressStyle::kLines, out_, clock_);
    now_ += 10s;
    progress.advance();
    now_ += 50s;
    progress.advance(99);
  }
  EXPECT_EQ(out_.str(),
            "views: 1 of 1000 (0 %), about 2.8 h left\nviews: 100 of 1000 (10 %), about 9 min left\n");
}

TEST(Progress, OfAPredictedTimeMovesByItself) {
  testing::internal::CaptureStderr();
  {
    const Progress progress("views", 4, ProgressStyle::kBar, 0.5);
    std::this_thread::sleep_for(1500ms);
  }
  const std::string drawn = testing::internal::GetCapturedStderr();
  EXPECT_GT(std::count(drawn.begin(), drawn.end(), '\r'), 1) << drawn;
  EXPECT_THAT(drawn, testing::HasSubstr("[######                  ] 0 of 4, "));
}

TEST_F(ProgressTest, LinesBeginWithThePrediction) {
  {
    Progress progress("views", 2, ProgressStyle::kLines, out_, clock_, 90);
    now_ += 30s;
    progress.advance();
    now_ += 60s;
    progress.advance();
  }
  { const Progress brief("brief", 2, ProgressStyle::kLines, out_, clock_, 4); }
  EXPECT_EQ(out_.str(),
            "views: 0 of 2 (0 %), about 90 s left\nviews: 1 of 2 (50 %), about 45 s left\n"
            "views: 2 of 2 (100 %), 90 s\n");
}

TEST_F(ProgressTest, StepsDoneBeforeSayNothingOfTheTime) {
  {
    Progress progress("views", 10, ProgressStyle::kLines, out_, clock_);
    progress.skip(8);
    now_ += 20s;
    progress.advance();
    now_ += 20s;
    progress.advance();
  }
  EXPECT_EQ(out_.str(), "views: 9 of 10 (90 %), about 20 s left\nviews: 10 of 10 (100 %), 40 s\n");
}

TEST_F(ProgressTest, SilentSaysNothing) {
  {
    Progress progress("views", 2, ProgressStyle::kSilent, out_, clock_);
    now_ += 1h;
    progress.advance(2);
  }
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ProgressTest, StandardErrorThatIsNoTerminalGetsLines) {
  show_progress();
  EXPECT_EQ(progress_style(true), ProgressStyle::kSilent);
  EXPECT_NE(progress_style(false), ProgressStyle::kSilent);
}

TEST_F(ProgressTest, AListenerGetsEveryStepAndStandardErrorNone) {
  std::vector<std::string> events;
  {
    const ProgressListener listener([&](const ProgressEvent& event) {
      events.push_back(fmt::format("{} {}/{} {} s, {} s left", event.step, event.done, event.total,
                                   event.seconds, event.left));
    });
    EXPECT_EQ(progress_style(true), ProgressStyle::kListener);
    Progress progress("views", 2, progress_style(true), out_, clock_);
    now_ += 4s;
    progress.advance();
    now_ += 4s;
    progress.advance();
  }
  EXPECT_THAT(events, testing::ElementsAre("views 0/2 0 s, 0 s left", "views 1/2 4 s, 4 s left",
                                           "views 2/2 8 s, 0 s left"));
  EXPECT_EQ(out_.str(), "");
  EXPECT_NE(progress_style(true), ProgressStyle::kListener);
}

TEST_F(ProgressTest, CountsStepsOfSeveralThreads) {
  {
    Progress progress("views", 4000, ProgressStyle::kLines, out_, clock_);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) progress.advance();
      });
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(out_.str(), "views: 4000 of 4000 (100 %), 0.1 s\n");
}

}  // namespace
}  // namespace recon

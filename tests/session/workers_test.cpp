// Worker processes that do inputs.

#include "session/workers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "session/session.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

/// What the parent hears of.
struct Heard {
  std::map<std::size_t, Outcome> done;
  std::map<std::size_t, Failure> lost;
  std::optional<Failure> failure;

  Heard(int workers, std::size_t inputs, const std::function<void(int, WorkerChannel&)>& work) {
    failure = run_workers(
        workers, inputs, work,
        [this](std::size_t input, Outcome outcome) {
          EXPECT_TRUE(done.emplace(input, std::move(outcome)).second) << input << " is done twice";
        },
        [this](std::size_t input, const Failure& reason) {
          EXPECT_TRUE(lost.emplace(input, reason).second) << input << " is lost twice";
        });
  }
};

Outcome outcome_of(std::size_t input, std::size_t bytes = 10) {
  return {static_cast<int>(input % 2), {{"input", input}}, std::string(bytes, 'x')};
}

TEST(Workers, DoEachInputOnce) {
  constexpr std::size_t kInputs = 40, kMoreThanAPipeHolds = 300000;
  const Heard heard(3, kInputs, [](int, WorkerChannel& channel) {
    while (const auto input = channel.next()) channel.send(*input, outcome_of(*input, kMoreThanAPipeHolds));
  });
  EXPECT_FALSE(heard.failure);
  EXPECT_TRUE(heard.lost.empty());
  ASSERT_EQ(heard.done.size(), kInputs);
  for (const auto& [input, outcome] : heard.done) {
    EXPECT_EQ(outcome.exit_code, static_cast<int>(input % 2));
    EXPECT_EQ(outcome.object.at("input"), input);
    EXPECT_EQ(outcome.text.size(), kMoreThanAPipeHolds);
  }
}

TEST(Workers, LoseTheInputOfOneThatIsKilledAndContinue) {
  const Heard heard(1, 5, [](int, WorkerChannel& channel) {
    while (const auto input = channel.next()) {
      if (*input == 1) std::raise(SIGKILL);
      if (*input == 3) std::_Exit(4);
      channel.send(*input, outcome_of(*input));
    }
  });
  EXPECT_FALSE(heard.failure);
  EXPECT_EQ(heard.done.size(), 3u);
  ASSERT_EQ(heard.lost.size(), 2u);
  EXPECT_THAT(heard.lost.at(1).message, HasSubstr("signal 9"));
  EXPECT_EQ(heard.lost.at(3).exit_code, 4);
}

TEST(Workers, ReportInputsThatNoneHasBegun) {
  const Heard heard(2, 3, [](int, WorkerChannel&) { std::raise(SIGSEGV); });
  EXPECT_TRUE(heard.done.empty());
  ASSERT_EQ(heard.lost.size(), 3u);
  EXPECT_THAT(heard.lost.at(2).message, HasSubstr("signal 11"));
  EXPECT_EQ(heard.lost.at(2).exit_code, 1);
}

TEST(Workers, EndWithTheExceptionOfOne) {
  const Heard heard(2, 9, [](int worker, WorkerChannel& channel) {
    if (worker == 1) throw DeviceUnavailable("no such device");
    while (const auto input = channel.next()) {
      channel.send(*input, outcome_of(*input));
      while (!interrupted()) usleep(1000);
    }
  });
  ASSERT_TRUE(heard.failure);
  EXPECT_EQ(heard.failure->exit_code, 5);
  EXPECT_EQ(heard.failure->message, "no such device");
  EXPECT_TRUE(heard.lost.empty());
}

/// A stop may come before a new process has handlers of its own.
TEST(Workers, DoNotAnnounceAStopThatIsNotTheUsers) {
  install_interrupt_handler();
  testing::internal::CaptureStderr();
  for (int round = 0; round < 100; ++round) {
    const Heard heard(4, 4, [](int, WorkerChannel&) { throw UsageError("no device"); });
    ASSERT_TRUE(heard.failure);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace recon

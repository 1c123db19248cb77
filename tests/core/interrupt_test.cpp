#include "core/interrupt.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <stop_token>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/stop.hpp"
#include "core/wavefront.hpp"

namespace recon {
namespace {

// The flag can be set only once per process: each case runs in its own process.

TEST(InterruptDeathTest, NothingIsThrownBeforeASignal) {
  install_interrupt_handler();
  EXPECT_FALSE(interrupted());
  EXPECT_NO_THROW(check_interrupted());
}

int code_thrown_after(int signal_number) {
  install_interrupt_handler();
  raise(signal_number);
  try {
    check_interrupted();
  } catch (const Interrupted& error) {
    return interrupted() ? error.exit_code() : 1;
  }
  return 0;
}

TEST(InterruptDeathTest, FirstSignalIsThrownAtTheNextCheck) {
  EXPECT_EXIT(std::_Exit(code_thrown_after(SIGINT)), testing::ExitedWithCode(130), "finished work is kept");
  EXPECT_EXIT(std::_Exit(code_thrown_after(SIGTERM)), testing::ExitedWithCode(130), "finished work is kept");
}

TEST(InterruptDeathTest, SecondSignalEndsAtOnce) {
  const auto twice = [](int second) {
    install_interrupt_handler();
    raise(SIGINT);
    raise(second);
    std::_Exit(0);
  };
  EXPECT_EXIT(twice(SIGINT), testing::ExitedWithCode(130), "");
  EXPECT_EXIT(twice(SIGTERM), testing::ExitedWithCode(143), "");
}

TEST(InterruptDeathTest, AParallelLoopEndsBeforeItsNextCall) {
  const auto calls_after_signal = [] {
    install_interrupt_handler();
    int calls = 0;
    try {
      ThreadLimit(1).run([&] {
        parallel_for(1000, [&](int) {
          if (++calls == 7) raise(SIGINT);
        });
      });
    } catch (const Interrupted&) {
      return calls - 7;
    }
    return 1000;
  };
  EXPECT_EXIT(std::_Exit(calls_after_signal()), testing::ExitedWithCode(0), "finished work is kept");
}

TEST(InterruptDeathTest, AWavefrontEndsBeforeItsNextPieces) {
  const auto rows_after_signal = [] {
    install_interrupt_handler();
    std::atomic<int> last{0};
    try {
      ThreadLimit(3).run([&] {
        wavefront(1000, 4, {3, 2, 1}, [&](int, int row, int begin, int) {
          if (row == 10 && begin == 0) raise(SIGINT);
          if (row > last) last = row;
        });
      });
    } catch (const Interrupted&) {
      return last < 10 + 3 * 2 ? 0 : 1;
    }
    return 2;
  };
  EXPECT_EXIT(std::_Exit(rows_after_signal()), testing::ExitedWithCode(0), "finished work is kept");
}

TEST(StopScope, ATokenStopsWorkDuringItsScope) {
  std::stop_source stop;
  {
    const StopScope scope(stop.get_token());
    EXPECT_NO_THROW(scope.check());
    EXPECT_FALSE(interrupted());
    stop.request_stop();
    EXPECT_THROW(scope.check(), Interrupted);
    EXPECT_TRUE(interrupted());
    EXPECT_THROW(check_interrupted(), Interrupted);
  }
  EXPECT_FALSE(interrupted());
  const StopScope late(stop.get_token());
  EXPECT_TRUE(interrupted()) << "it was stopped before";
}

TEST(StopScope, WorkOfOthersGoesOn) {
  std::stop_source stop, other;
  const StopScope going(other.get_token());
  {
    const StopScope stopped(stop.get_token());
    stop.request_stop();
    EXPECT_FALSE(interrupted()) << "one of two is to stop";
    EXPECT_THROW(stopped.check(), Interrupted);
    EXPECT_NO_THROW(going.check());
  }
  EXPECT_FALSE(interrupted());
  other.request_stop();
  EXPECT_TRUE(interrupted());
}

}  // namespace
}  // namespace recon

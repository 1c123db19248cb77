#include "core/interrupt.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "core/error.hpp"

namespace recon {
namespace {

// The flag can only be raised once in a process: each case works in a process of its own.

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

}  // namespace
}  // namespace recon

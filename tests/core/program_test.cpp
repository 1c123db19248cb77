#include "core/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "core/error.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;

// Descriptors and signals are process-wide: each case runs in its own process.

/// The descriptor of an unlinked file.
int temporary_file() {
  std::string name = testing::TempDir() + "recon_program_XXXXXX";
  const int file = mkstemp(name.data());
  unlink(name.c_str());
  return file;
}

/// The descriptor of a newly opened file after the standard descriptors were closed.
int descriptor_of_a_file(bool prepared) {
  for (const int descriptor : {0, 1, 2}) close(descriptor);
  if (prepared) prepare_process();
  return temporary_file();
}

TEST(ProgramDeathTest, AFileNeverGetsAStandardDescriptor) {
  EXPECT_EXIT(std::_Exit(descriptor_of_a_file(false)), ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(descriptor_of_a_file(true) > 2 ? 9 : 1), ExitedWithCode(9), "");
}

/// errno of a write beyond the file size limit.
int error_beyond_the_limit() {
  prepare_process();
  const rlimit limit{16, 16};
  const int file = temporary_file();
  setrlimit(RLIMIT_FSIZE, &limit);
  const char bytes[32] = {};
  errno = 0;
  return write(file, bytes, sizeof bytes) == 16 && write(file, bytes, sizeof bytes) < 0 ? errno : 0;
}

int error_of_a_closed_pipe() {
  prepare_process();
  int ends[2];
  if (pipe(ends) != 0) return 0;
  close(ends[0]);
  return write(ends[1], "x", 1) < 0 ? errno : 0;
}

TEST(ProgramDeathTest, AWriteThatFailsIsAnErrorAndNoSignal) {
  EXPECT_EXIT(std::_Exit(error_beyond_the_limit()), ExitedWithCode(EFBIG), "");
  EXPECT_EXIT(std::_Exit(error_of_a_closed_pipe()), ExitedWithCode(EPIPE), "");
}

/// The exit code of a program that prints to a full disk.
int code_of_a_lost_text(int code_of_the_work) {
  if (freopen("/dev/full", "w", stdout) == nullptr) return 99;
  const auto work = [&] {
    std::cout << "text\n";
    return code_of_the_work;
  };
  return run_program(work, {});
}

TEST(ProgramDeathTest, ALostTextIsAFailure) {
  EXPECT_EXIT(std::_Exit(code_of_a_lost_text(0)), ExitedWithCode(1),
              "error: standard output cannot be written");
  EXPECT_EXIT(std::_Exit(code_of_a_lost_text(7)), ExitedWithCode(7), "standard output cannot be written");
}

TEST(Program, RefusesEmptyArguments) {
  const auto refusal = [](std::vector<const char*> words) -> std::string {
    words.insert(words.begin(), "reconstruct");
    try {
      refuse_empty_arguments(static_cast<int>(words.size()), words.data());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal({"scene", "--min-angle", ""}), "--min-angle has an empty value");
  EXPECT_EQ(refusal({"scene", "--min-angle="}), "--min-angle has an empty value");
  EXPECT_EQ(refusal({"-o", "", "scene"}), "-o has an empty value");
  EXPECT_EQ(refusal({"scene", ""}), "argument 2 is empty");
  EXPECT_EQ(refusal({""}), "argument 1 is empty");
  EXPECT_EQ(refusal({}), "none");
  EXPECT_EQ(refusal({"scene", "--views=a=", "--min-angle=1", "-v"}), "none");
  EXPECT_EQ(refusal({"--", "--folder="}), "none") << "a name, not an option";
}

template <class Thrown>
Failure failure_of(const Thrown& thrown) {
  const Advice advice{"--threads lowers it", "it goes on"};
  try {
    throw thrown;
  } catch (...) {
    return current_failure(advice);
  }
}

TEST(Program, ReportsWhatAnExceptionMeans) {
  EXPECT_EQ(failure_of(UsageError("--window is 8")).exit_code, 2);
  EXPECT_EQ(failure_of(UsageError("--window is 8")).message, "--window is 8");
  EXPECT_EQ(failure_of(Interrupted()).exit_code, 130);
  EXPECT_EQ(failure_of(Interrupted()).message, "interrupted; it goes on");
  EXPECT_EQ(failure_of(std::bad_alloc()).exit_code, 4);
  EXPECT_EQ(failure_of(std::bad_alloc()).message, "out of memory; --threads lowers it");
  EXPECT_EQ(failure_of(std::runtime_error("odd")).exit_code, 1);
  EXPECT_EQ(failure_of(std::runtime_error("odd")).message, "unexpected failure: odd");
}

TEST(Program, AParsersOwnTextIsNoMessage) {
  try {
    nlohmann::json::object().at("result");
  } catch (const nlohmann::json::out_of_range& error) {
    EXPECT_EQ(failure_of(error).message,
              "unexpected failure: a value of a JSON document is missing or of another kind (error 403)");
    return;
  }
  FAIL();
}

TEST(Program, TakesTheWidthOfAPipeFromColumns) {
  if (isatty(STDOUT_FILENO)) GTEST_SKIP() << "standard output is a terminal";
  setenv("COLUMNS", "60", 1);
  EXPECT_EQ(standard_output_columns(), 60);
  EXPECT_EQ(terminal_columns(), 60);
  for (const char* none : {"", "wide", "-3", "0"}) {
    setenv("COLUMNS", none, 1);
    EXPECT_EQ(standard_output_columns(), std::nullopt) << none;
    EXPECT_EQ(terminal_columns(), 80) << none;
  }
  unsetenv("COLUMNS");
}

TEST(Program, ReportsThreadsThatCannotBeCreated) {
  const auto refused = std::make_error_code(std::errc::resource_unavailable_try_again);
  for (const Failure& failure :
       {failure_of(std::system_error(refused)),
        failure_of(std::runtime_error("pthread_create has failed: Resource temporarily unavailable"))}) {
    EXPECT_EQ(failure.exit_code, 4);
    EXPECT_THAT(failure.message, AllOf(HasSubstr("thread cannot be created"), HasSubstr("--threads"),
                                       HasSubstr("ulimit -u"), HasSubstr("ulimit -v")));
  }
}

/// Like the exit of oneTBB's workers when an allocation fails.
void leave_a_thread_by(const std::function<void()>& thrower) {
  run_program([&] { return std::thread(thrower).join(), 0; }, {"fewer threads need less"});
}

TEST(ProgramDeathTest, AnExceptionThatLeavesAThreadIsAnExitCode) {
  EXPECT_EXIT(leave_a_thread_by([] { throw std::bad_alloc(); }), ExitedWithCode(4),
              "out of memory; fewer threads need less");
  EXPECT_EXIT(leave_a_thread_by([] { throw std::logic_error("odd"); }), ExitedWithCode(1), "odd");
}

TEST(Program, ReportsAFailureOnce) {
  int calls = 0;
  const auto count = [&](const Failure& failure) {
    ++calls;
    EXPECT_EQ(failure.exit_code, 3);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program([]() -> int { throw InputError("cameras.txt:2: odd"); }, {}, count), 3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: cameras.txt:2: odd\n");
  EXPECT_EQ(run_program([] { return 7; }, {}, count), 7);
  EXPECT_EQ(calls, 1);
}

/// Fails in a destructor, which cannot throw on, when malloc has nothing left.
void exhaust_memory_and_fail(const std::function<void()>& fail) {
  struct Failing {
    const std::function<void()>& fail;
    ~Failing() { fail(); }
  };
  const rlimit none{1, 1};
  ::setrlimit(RLIMIT_AS, &none);
  static void* volatile block = nullptr;
  for (std::size_t bytes = std::size_t{1} << 24; bytes >= 16; bytes /= 2) {
    do block = std::malloc(bytes);
    while (block != nullptr);
  }
  const Failing failing{fail};
}

TEST(ProgramDeathTest, NoMemoryForTheMessageIsFourWithAMessage) {
  EXPECT_EXIT(run_program([] { return exhaust_memory_and_fail([] { throw std::bad_alloc(); }), 0; },
                          {"lower --threads"}, {}),
              ExitedWithCode(4), "error: out of memory; lower --threads");
}

}  // namespace
}  // namespace recon

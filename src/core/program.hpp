#pragma once

#include <spdlog/common.h>

#include <functional>
#include <optional>
#include <string>

namespace recon {

/// Directs `messages` to standard error from `level` on, and shows progress there (libraries neither log nor
/// show it by themselves). Only warnings and errors have a prefix; behind it is their message_subject, unless
/// they begin with it themselves. On a terminal each message first clears
/// the line of the progress bar, and has lines of the width of the terminal; elsewhere it is one line. Call
/// it first in `main`.
void set_up_log(spdlog::level::level_enum level);

/// Prepares the process for writing files and messages; call it before anything is opened. Closed descriptors
/// among 0 to 2 are opened on /dev/null: otherwise a data file could get the descriptor of standard error,
/// and messages would be written into it. SIGPIPE and SIGXFSZ are ignored: a write to a closed pipe or beyond
/// the file size limit then fails with EPIPE or EFBIG instead of ending the process without a message.
/// @throws OutputError when /dev/null cannot be opened
void prepare_process();

/// Rejects empty arguments, such as an unset shell variable after an option: CLI11 parses an empty number as
/// 0, and takes the argument after `--option=` as its value.
/// @throws UsageError with the name of the option
void refuse_empty_arguments(int argc, const char* const* argv);

/// Prints what is asked for to be read, such as help, on standard output. A reader that goes away early, as
/// `head` does, is no failure.
void print_for_reading(const std::string& text);

/// Columns of the terminal that standard output is, else those that an exported COLUMNS asks for; nothing
/// where there is neither.
std::optional<int> standard_output_columns();

/// The same; 80 where there are none.
int terminal_columns();

/// The number of threads to use for `--threads asked`: at most `available_threads()`, since more threads are
/// slower. Logs a message where it is lower.
int usable_threads(int asked);

/// Reason for the failure of a program.
struct Failure {
  int exit_code = 0;
  std::string message;
};

/// Advice to the user.
struct Advice {
  std::string out_of_memory;  ///< how to lower the memory needed, such as "--threads lowers it"
  std::string interrupted = "the same command starts again";
};

/// The failure of the exception being handled; call it in a catch block.
Failure current_failure(const Advice& advice);

/// Logs a failure: an interrupt, which was asked for, as a plain message, all others as errors.
void log_failure(const Failure& failure);

/// The body of `main`: prepares the process and the log, calls `work`, logs its exceptions, and checks that
/// standard output was written completely. An exception that escapes from another thread ends the process
/// with the same message and exit code, without calling `on_failure`.
/// @param work        returns the exit code
/// @param on_failure  called with the exception after it is logged
/// @return the exit code of `work` or of its exception; 1 instead of 0 where standard output failed
int run_program(const std::function<int()>& work, const Advice& advice,
                const std::function<void(const Failure&)>& on_failure = {});

}  // namespace recon

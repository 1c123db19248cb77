#pragma once

#include <functional>
#include <string>

namespace recon {

/// Prepares the process for writing files and messages; call it before anything is opened.
/// Of the descriptors 0 to 2 those that are closed are opened on /dev/null: otherwise a data file could get
/// the number of standard error, and messages would be written into it. SIGPIPE and SIGXFSZ are ignored: a
/// write to a closed pipe or beyond the file size limit then fails with EPIPE or EFBIG instead of ending the
/// process without a message.
/// @throws OutputError when /dev/null cannot be opened
void prepare_process();

/// Flushes standard output.
/// @throws OutputError when any of the text written to std::cout was lost
void check_standard_output();

/// Refuses empty arguments, such as an unset shell variable leaves behind an option: CLI11 takes an empty
/// number for 0, and the word after `--option=` for its value.
/// @throws UsageError that names the option
void refuse_empty_arguments(int argc, const char* const* argv);

/// The number of threads to use where `--threads` asks for `asked`: no more than `available_threads()`, which
/// more threads only slow down. Says so where it is less.
int usable_threads(int asked);

/// Why a program fails.
struct Failure {
  int exit_code = 0;
  std::string message;
};

/// What a program advises its user to do.
struct Advice {
  std::string out_of_memory;  ///< what lowers the memory needed, such as "--threads lowers it"
  std::string interrupted = "the same command starts again";
};

/// The failure that the exception being handled means; call it in a catch block.
Failure current_failure(const Advice& advice);

/// Logs a failure: an interrupt as a warning, all else as an error.
void log_failure(const Failure& failure);

/// The body of `main`: prepares the process and the log, calls `work`, logs what it throws, and checks that
/// standard output took all of its text. An exception that leaves any other thread ends the process with the
/// same message and exit code (`on_failure` is not called then).
/// @param work        returns the exit code
/// @param on_failure  gets what was thrown, after it is logged
/// @return the exit code of `work`, or of what it threw; 1 instead of 0 where standard output failed
int run_program(const std::function<int()>& work, const Advice& advice,
                const std::function<void(const Failure&)>& on_failure = {});

}  // namespace recon

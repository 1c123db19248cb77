#include "core/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/log_file.hpp"
#include "core/message_subject.hpp"
#include "core/parallel.hpp"
#include "core/printable.hpp"
#include "core/progress.hpp"
#include "core/terminal_lines.hpp"

namespace recon {
namespace {

/// Columns of the terminal that a descriptor is; nothing where it is none, or does not say.
std::optional<int> columns_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

/// A message for people: the level of a warning or an error, the subject if the message does not begin with
/// it, and the message.
class Message : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const auto append = [&out](std::string_view text) { out.append(text.data(), text.data() + text.size()); };
    append(message.level >= spdlog::level::err    ? "error: "
           : message.level >= spdlog::level::warn ? "warning: "
                                                  : "");
    append(printable(with_subject({message.payload.data(), message.payload.size()})));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Message>(); }
};

/// The same as an object.
class JsonMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const char* const kind = message.level >= spdlog::level::err    ? "error"
                             : message.level >= spdlog::level::warn ? "warning"
                                                                    : "message";
    const std::string line =
        message_object({{kind, std::string(message.payload.data(), message.payload.size())}});
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<JsonMessage>(); }
};

/// Writes above the bars of a terminal, in lines of its width.
class StandardError : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    const std::string line(text.data(), text.size());
    const std::optional<int> columns = json_messages() ? std::nullopt : columns_of(STDERR_FILENO);
    standard_error_lines().print(columns ? wrapped_lines(line, static_cast<std::size_t>(*columns)) : line);
  }
  void flush_() override {}
};

/// The sink of set_up_log.
const spdlog::sink_ptr& standard_error() {
  static const spdlog::sink_ptr sink = std::make_shared<StandardError>();
  return sink;
}

constexpr int kUnexpected = 1;
constexpr int kOutOfMemory = 4;

/// When no thread can be created, the C++ library throws std::system_error, and oneTBB throws
/// std::runtime_error with the name of the call.
bool is_thread_refused(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) return true;
  return std::string_view(error.what()).starts_with("pthread_create");
}

Failure failure_of(const std::exception& error) {
  if (is_thread_refused(error))
    return {OutOfMemory("").exit_code(),
            std::string("a thread cannot be created: ") + std::strerror(EAGAIN) +
                "; lower --threads, or raise the limits on processes (ulimit -u) and on memory (ulimit -v)"};
  std::string reason = error.what();
  if (const auto* json = dynamic_cast<const nlohmann::json::exception*>(&error))
    reason =
        "a value of a JSON document is missing or of another kind (error " + std::to_string(json->id) + ")";
  return {kUnexpected, "unexpected failure: " + reason};
}

/// Whether all text was written to standard output; logs an error otherwise.
bool standard_output_is_complete() {
  std::cout.flush();
  if (!std::cout)
    messages().error(
        "standard output cannot be written: it is closed, or there is no space; its text is lost");
  return std::cout.good();
}

/// The advice for `end_by_exception`, and its last words where there is no memory for others.
struct LastWords {
  Advice advice;
  std::string out_of_memory = text_of("out of memory; " + advice.out_of_memory) + "\n";

 private:
  static std::string text_of(const std::string& error) {
    return json_messages() ? message_object({{"error", error}}) : "error: " + error;
  }
};

/// Ends the process with the exit code of an exception that escaped from a thread: a library's own threads,
/// such as oneTBB's workers, cannot propagate a std::bad_alloc, nor can destructors that allocate. The stack
/// is not unwound; finished files are kept. Where there is no memory for the message, this function is called
/// again, by std::terminate.
[[noreturn]] void end_by_exception(const LastWords& words) noexcept {
  static thread_local bool called = false;
  if (called) {
    erase_standard_error_lines();
    [[maybe_unused]] const ssize_t written =
        ::write(STDERR_FILENO, words.out_of_memory.data(), words.out_of_memory.size());
    std::_Exit(kOutOfMemory);
  }
  called = true;
  Failure failure{kUnexpected, "unexpected failure: ended without an exception"};
  if (std::current_exception()) failure = current_failure(words.advice);
  log_failure(failure);
  erase_standard_error_lines();
  std::_Exit(failure.exit_code);
}

}  // namespace

void set_up_log(spdlog::level::level_enum level) {
  static const LogSink shown(standard_error());
  standard_error()->set_level(level);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  if (json_messages())
    formatter->add_flag<JsonMessage>('*');
  else
    formatter->add_flag<Message>('*');
  formatter->set_pattern("%*");
  standard_error()->set_formatter(std::move(formatter));
  show_progress();
}

/// Machines of many threads write so many files at once that the usual 1024 do not suffice.
void raise_file_limit() {
  constexpr rlim_t kOpenFiles = 65536;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = std::min(files.rlim_max, kOpenFiles);
  if (files.rlim_cur >= wanted) return;
  files.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

void prepare_process() {
  // open() returns the lowest free descriptor, so each closed one is opened itself.
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0)
      throw OutputError(std::string("/dev/null cannot be opened: ") + std::strerror(errno));
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
  raise_file_limit();
}

void refuse_empty_arguments(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i], before = argv[i - 1];
    if (word == "--") return;
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      throw UsageError(std::string(word.substr(0, word.size() - 1)) + " has an empty value");
    if (!word.empty()) continue;
    if (i > 1 && before.starts_with("-")) throw UsageError(std::string(before) + " has an empty value");
    throw UsageError("argument " + std::to_string(i) + " is empty");
  }
}

void print_for_reading(const std::string& text) {
  errno = 0;
  std::cout << text << std::flush;
  if (std::cout || errno != EPIPE) return;
  std::cout.clear();
  const int nowhere = ::open("/dev/null", O_WRONLY);  // for what the stream still holds
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

std::optional<int> standard_output_columns() {
  if (const auto columns = columns_of(STDOUT_FILENO)) return columns;
  const char* const exported = std::getenv("COLUMNS");
  const int columns = exported ? static_cast<int>(std::strtol(exported, nullptr, 10)) : 0;
  return columns > 0 ? std::optional(columns) : std::nullopt;
}

int terminal_columns() {
  constexpr int kUnknown = 80;
  return standard_output_columns().value_or(kUnknown);
}

int usable_threads(int asked) {
  const int available = available_threads();
  if (asked <= available) return asked;
  messages().info("--threads is {}; {} are used, as many as there are processors", asked, available);
  return available;
}

Failure current_failure(const Advice& advice) {
  try {
    throw;
  } catch (const Interrupted& stop) {
    return {stop.exit_code(), "interrupted; " + advice.interrupted};
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {OutOfMemory("").exit_code(), "out of memory; " + advice.out_of_memory};
  } catch (const std::exception& error) {
    return failure_of(error);
  }
}

void log_failure(const Failure& failure) {
  if (failure.exit_code == Interrupted().exit_code())
    messages().info("{}", failure.message);
  else
    messages().error("{}", failure.message);
}

int run_program(const std::function<int()>& work, const Advice& advice,
                const std::function<void(const Failure&)>& on_failure) {
  int exit_code = 0;
  try {
    prepare_process();
    set_up_log(spdlog::level::info);
    static const LastWords kept{advice};
    std::set_terminate([] { end_by_exception(kept); });
    exit_code = work();
  } catch (...) {
    const Failure failure = current_failure(advice);
    log_failure(failure);
    if (on_failure) on_failure(failure);
    exit_code = failure.exit_code;
  }
  if (!standard_output_is_complete() && exit_code == 0) exit_code = kUnexpected;
  return exit_code;
}

}  // namespace recon

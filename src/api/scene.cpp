#include "reconstruct/scene.hpp"

#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "api/call.hpp"
#include "api/run_inputs.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/message_subject.hpp"
#include "core/progress.hpp"
#include "core/stop.hpp"
#include "session/graph/task_threads.hpp"
#include "session/options/option.hpp"

namespace reconstruct {

namespace {

/// The run of this process, one at a time.
class Turn {
 public:
  /// Waits for the others. @throws Interrupted once the token is stopped
  explicit Turn(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!ended_.wait(lock, stop, [] { return !taken_; })) throw Interrupted();
    taken_ = true;
  }
  ~Turn() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = false;
    }
    ended_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline std::condition_variable_any ended_;
  static inline bool taken_ = false;
};

/// Whether this thread calls a listener.
thread_local bool calls_listener = false;

/// Calls the functions of a listener one at a time, in the order of what happened, on a thread of their
/// own: those who tell hold locks of the log and of the progress, which a listener may need that calls the
/// library. The first exception of one is kept and stops the run.
class Calls {
 public:
  /// @throws std::system_error where there can be no such thread
  explicit Calls(std::stop_source& stop) : stop_(stop) {
    std::thread::id called_on;
    thread_.submit([&] { called_on = std::this_thread::get_id(); });
    thread_.finish();
    if (called_on == std::this_thread::get_id())
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  ~Calls() {
    try {
      finish();
    } catch (...) {  // another exception is on its way
    }
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  /// @param wait  until it is called
  void add(std::function<void()> function, bool wait) noexcept {
    try {
      thread_.submit([this, function = std::move(function)] { call(function); });
      if (wait) thread_.finish();
    } catch (...) {  // `finish` says why
      stop_.request_stop();
    }
  }

  /// Waits until all are called, throws the exception of one.
  void finish() { thread_.finish(); }

 private:
  void call(const std::function<void()>& function) {
    if (failed_) return;
    calls_listener = true;
    try {
      function();
    } catch (...) {
      calls_listener = false;
      failed_ = true;
      stop_.request_stop();
      throw;
    }
    calls_listener = false;
  }

  std::stop_source& stop_;
  std::atomic<bool> failed_ = false;
  recon::BackgroundWork thread_{1, std::numeric_limits<int>::max()};  ///< the last member: it uses the others
};

MessageLevel level_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return MessageLevel::kError;
  if (level >= spdlog::level::warn) return MessageLevel::kWarning;
  return level >= spdlog::level::info ? MessageLevel::kInfo : MessageLevel::kDebug;
}

/// Hands messages to a listener.
class MessageSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  MessageSink(const Listener& listener, Calls& calls) : listener_(listener), calls_(calls) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string text = recon::with_subject({message.payload.data(), message.payload.size()});
    calls_.add(
        [&listener = listener_, level = level_of(message.level), text] { listener.message(level, text); },
        false);
  }
  void flush_() override {}

 private:
  const Listener& listener_;
  Calls& calls_;
};

/// The options of a library's run.
recon::GivenOptions run_options(const Options& options, bool hears_progress) {
  for (const auto& [name, value] : options)
    if (const recon::Option* option = recon::find_option(name); option != nullptr && is_of_terminal(*option))
      throw UsageError("--" + name + " belongs to the command line; a library has none");
  recon::GivenOptions given = detail::given_options(options);
  given["json"] = {"true"};
  if (!hears_progress) given["quiet"] = {"true"};
  return given;
}

/// The session with its messages and progress; they end with it.
std::string run_heard(const std::vector<std::filesystem::path>& inputs, const recon::GivenOptions& options,
                      const Listener& listener, Calls& calls) {
  std::optional<recon::LogSink> messages;
  std::optional<recon::ProgressListener> progress;
  if (listener.message) messages.emplace(std::make_shared<MessageSink>(listener, calls));
  if (listener.progress)
    progress.emplace([&](const recon::ProgressEvent& event) {
      calls.add(
          [&listener, event] {
            listener.progress({event.step, event.done, event.total, event.seconds, event.left});
          },
          true);
    });
  std::ostringstream out;
  std::exception_ptr error;
  detail::run_inputs(inputs, options, out, &error);
  if (error) std::rethrow_exception(error);
  return out.str();
}

}  // namespace

RunResult run(const std::vector<std::filesystem::path>& inputs, const Options& options,
              const Listener& listener, std::stop_token stop) {
  return detail::guarded([&] {
    if (calls_listener)
      throw UsageError(
          "a listener called run, which would wait for the run that called the listener; "
          "call it when that one has ended");
    const Turn turn(stop);
    std::stop_source own;
    const std::stop_callback handed_on(std::move(stop), [&] { own.request_stop(); });
    const recon::StopScope scope(own.get_token());
    scope.check();
    const recon::GivenOptions given = run_options(options, static_cast<bool>(listener.progress));
    RunResult result;
    Calls calls(own);
    try {
      result.json = run_heard(inputs, given, listener, calls);
    } catch (...) {
      calls.finish();
      throw;
    }
    calls.finish();
    result.complete = nlohmann::json::parse(result.json).at("exit_code") == 0;
    return result;
  });
}

}  // namespace reconstruct

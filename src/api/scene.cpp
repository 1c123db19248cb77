#include "reconstruct/scene.hpp"

#include <spdlog/sinks/base_sink.h>

#include <commit.hpp>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "api/call.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/stop.hpp"
#include "session/session.hpp"

namespace reconstruct {

namespace {

/// Calls the functions of a listener one at a time. The first exception of one is kept and stops the run.
class Calls {
 public:
  explicit Calls(std::stop_source& stop) : stop_(stop) {}

  template <class Function>
  void call(const Function& function) noexcept {
    const std::lock_guard lock(mutex_);
    if (exception_) return;
    try {
      function();
    } catch (...) {
      exception_ = std::current_exception();
      stop_.request_stop();
    }
  }

  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::stop_source& stop_;
  std::mutex mutex_;
  std::exception_ptr exception_;
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
    const std::string text(message.payload.data(), message.payload.size());
    calls_.call([&] { listener_.message(level_of(message.level), text); });
  }
  void flush_() override {}

 private:
  const Listener& listener_;
  Calls& calls_;
};

/// The options of a library's run.
recon::SessionOptions run_options(const std::vector<std::filesystem::path>& inputs, const Options& options) {
  for (const char* of_terminal : {"quiet", "verbose", "json", "help", "version", "config", "progress"})
    if (options.contains(of_terminal))
      throw UsageError(std::string("--") + of_terminal + " belongs to the command line; a library has none");
  recon::SessionOptions parsed = recon::parse_options(detail::given_options(options));
  if (parsed.workers > 1)
    throw UsageError("--jobs is " + std::to_string(parsed.workers) +
                     "; a library starts no processes: call it in several processes instead");
  parsed.inputs = inputs;
  parsed.commit = RECON_COMMIT;
  parsed.json = true;
  return parsed;
}

/// The session with its messages and progress; they end with it.
std::string run_heard(const recon::SessionOptions& options, const Listener& listener, Calls& calls) {
  std::optional<recon::LogSink> messages;
  std::optional<recon::ProgressListener> progress;
  if (listener.message) messages.emplace(std::make_shared<MessageSink>(listener, calls));
  if (listener.progress)
    progress.emplace([&](const recon::ProgressEvent& event) {
      calls.call([&] {
        listener.progress({event.step, event.done, event.total, event.seconds, event.left});
      });
    });
  std::ostringstream out;
  std::exception_ptr error;
  recon::run_session(options, out, &error);
  if (error) std::rethrow_exception(error);
  return out.str();
}

}  // namespace

RunResult run(const std::vector<std::filesystem::path>& inputs, const Options& options,
              const Listener& listener, std::stop_token stop) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::stop_source own;
  const std::stop_callback handed_on(std::move(stop), [&] { own.request_stop(); });
  Calls calls(own);
  return detail::guarded([&] {
    const recon::StopScope scope(own.get_token());
    scope.check();
    recon::SessionOptions parsed = run_options(inputs, options);
    parsed.quiet = !listener.progress;
    RunResult result;
    try {
      result.json = run_heard(parsed, listener, calls);
    } catch (...) {
      calls.rethrow();
      throw;
    }
    calls.rethrow();
    result.complete = nlohmann::json::parse(result.json).at("exit_code") == 0;
    return result;
  });
}

}  // namespace reconstruct

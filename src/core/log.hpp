#pragma once

#include <spdlog/spdlog.h>

#include <vector>

namespace recon {

/// The messages of the process, from the debug level on. They go nowhere until a sink takes them:
/// `set_up_log` adds standard error, LogFile a file, LogSink any other. Thread-safe.
spdlog::logger& messages();

/// The sinks that take them now.
std::vector<spdlog::sink_ptr> all_sinks();

/// Hands all messages to a sink, which filters by its own level, during its life.
class LogSink {
 public:
  explicit LogSink(spdlog::sink_ptr sink);
  ~LogSink();
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;

 private:
  spdlog::sink_ptr sink_;
};

}  // namespace recon

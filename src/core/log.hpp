#pragma once

#include <spdlog/spdlog.h>

namespace recon {

enum class Verbosity {
  kQuiet,    ///< warnings and errors
  kNormal,   ///< also progress information
  kVerbose,  ///< also debug information
};

/// Directs spdlog's default logger to standard error, so that `spdlog::info`, `warn`, `error` and `debug` can
/// be used by the session and the tools (libraries below them throw instead). Only warnings and errors have a
/// prefix. On a terminal each message first clears the line of the progress bar. Call it first in `main`.
void set_up_log(Verbosity verbosity);

}  // namespace recon

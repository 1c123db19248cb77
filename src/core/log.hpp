#pragma once

#include <spdlog/spdlog.h>

namespace recon {

enum class Verbosity {
  kQuiet,    ///< warnings and errors
  kNormal,   ///< and what is being done
  kVerbose,  ///< and why
};

/// Directs spdlog's default logger to standard error, so that `spdlog::info`, `warn`, `error` and `debug` can
/// be used by the session and the tools (libraries below them throw instead). Messages come bare, warnings
/// and errors with the word before them. On a terminal a line first wipes a progress bar that stands there.
/// Call it first in `main`.
void set_up_log(Verbosity verbosity);

}  // namespace recon

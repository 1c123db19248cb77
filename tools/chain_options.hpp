#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "session/options.hpp"

namespace recon {

/// The single links on the command line of `reconstruct`; outlives the CLI11 application that writes into it.
struct ChainCommandLine {
  void declare(CLI::App& app, const ChainOptions& defaults);

  /// Turns the words that were given into `options`, after parsing; those of `--cost` and `--optimizer`
  /// stand there already.
  /// @throws UsageError
  void finish(SessionOptions& options) const;

 private:
  std::string preset_, aggregation_, refine_;
};

}  // namespace recon

#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "session/options/options.hpp"

namespace recon {

/// The single stages on the command line of `reconstruct`; outlives the CLI11 application that writes into
/// it.
struct PipelineCommandLine {
  void declare(CLI::App& app, const PipelineOptions& defaults);

  /// Turns the words that were given into `options`, after parsing; those of `--cost` and `--optimizer`
  /// stand there already.
  /// @throws UsageError
  void finish(SessionOptions& options) const;

 private:
  void declare_supports(CLI::App& app, const AggregationOptions& defaults, const char* group);
  void set_supports(AggregationOptions& aggregation) const;

  std::string preset_, aggregation_, refine_;
  std::optional<float> aw_colour_, aw_space_;
  std::optional<int> arm_length_, arm_colour_, cross_iterations_;
};

}  // namespace recon

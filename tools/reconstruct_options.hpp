#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "session/options/options.hpp"
#include "tools/pair_options.hpp"
#include "tools/pipeline_options.hpp"
#include "tools/reconstruct_config.hpp"

namespace recon {

/// The command line of `reconstruct`: it outlives the CLI11 application that writes into it.
struct CommandLine {
  SessionOptions options;
  bool verbose = false;

  /// Declares all options, in groups, with their defaults.
  void declare(CLI::App& app);

  /// Parses the command line.
  /// @throws CLI::Success for `--help` and `--version`; UsageError
  static void parse(CLI::App& app, int argc, const char* const* argv);

  /// Reads the configuration, if one is named, and turns the words that were given into `options`, after
  /// parsing.
  /// @throws UsageError
  void finish(CLI::App& app);

  /// A message that begins with an option, such as "--window is 8", with file and line before it where a
  /// configuration set the option.
  std::string with_place(const std::string& message) const;

 private:
  void declare_work(CLI::App& app);
  void declare_matching(CLI::App& app);
  void declare_hypotheses(CLI::App& app);
  void declare_filters(CLI::App& app);
  void declare_limits(CLI::App& app);
  void finish_matching(bool optimizer_given);
  void finish_window();

  std::string config_;
  std::vector<ConfigEntry> from_config_;
  PipelineCommandLine pipeline_;
  PairCommandLine pairs_;
  std::string method_, cost_;
  std::optional<int> window_, speckle_;
  std::optional<float> min_texture_;
  std::string combine_ = "best-k";
  std::string optimizer_ = "sgm";
  std::string planes_ = "auto";
  std::string shard_ = "1/1";
  std::string stage_ = "all";
  std::string memory_limit_;
  std::string gpu_memory_limit_;
};

}  // namespace recon

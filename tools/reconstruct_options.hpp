#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "session/options.hpp"
#include "tools/chain_options.hpp"
#include "tools/pair_options.hpp"

namespace recon {

/// The command line of `reconstruct`: it outlives the CLI11 application that writes into it.
struct CommandLine {
  SessionOptions options;
  bool verbose = false;

  /// Declares all options, in groups, with their defaults.
  void declare(CLI::App& app);

  /// Turns the words that were given into `options`, after parsing.
  /// @throws UsageError
  void finish(const CLI::App& app);

 private:
  void declare_work(CLI::App& app);
  void declare_matching(CLI::App& app);
  void declare_hypotheses(CLI::App& app);
  void declare_filters(CLI::App& app);
  void declare_limits(CLI::App& app);
  void finish_matching(bool optimizer_given);
  void finish_window();

  ChainCommandLine chain_;
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

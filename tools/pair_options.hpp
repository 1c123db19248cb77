#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "session/options/options.hpp"

namespace recon {

/// The options of rectified pairs on the command line of `reconstruct`; outlives the CLI11 application that
/// writes into it. Values that several methods share, each with a default of its own, are `std::optional`.
struct PairCommandLine {
  /// Declares the options in groups of their own; `settings` gets the values that need no translation.
  void declare(CLI::App& app, PairSettings& settings);

  /// Turns the words that were given into `settings`, after parsing.
  /// @throws UsageError
  void finish(PairSettings& settings, SemiGlobalOptions& sweep) const;

  /// The same of the graph cut of a sweep that has no other penalties.
  void finish_cut(GraphCutOptions& cut) const;

 private:
  void declare_semi_global(CLI::App& app, PairSettings& settings);
  void declare_block(CLI::App& app, BlockMatchingOptions& block);
  void declare_belief(CLI::App& app, BeliefOptions& belief);

  std::optional<int> paths_, p1_, p2_, p2_falloff_, uniqueness_, left_right_;
  std::string region_;
  std::string prefilter_ = "sobel";
  std::string storage_ = "half";
};

}  // namespace recon

#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace recon {

struct CompletedOption {
  std::vector<std::string> names;  ///< such as -o and --output
  std::string help;                ///< shells show its first clause
  std::string value;               ///< what help calls the value; FILE and DIR are paths; empty for a switch
  std::vector<std::string> words;  ///< values that are offered
};

/// What shells complete of a program or of one of its commands. Other arguments are paths.
struct CompletedCommand {
  std::string name, help;
  std::vector<CompletedOption> options;
  std::vector<CompletedCommand> commands;  ///< one of which comes first, and has no commands itself
};

/// That of a command line of CLI11.
CompletedCommand completed(const CLI::App& app);

/// A script that completes options and their values.
/// @param shell  bash, zsh or fish
/// @throws UsageError for another one
std::string completion_script(const CompletedCommand& program, const std::string& shell);

}  // namespace recon

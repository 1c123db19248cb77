#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/options/options.hpp"

namespace recon {

/// The command line of `reconstruct`, as texts.
struct CommandLine {
  std::vector<std::filesystem::path> inputs;
  GivenOptions given;

  /// Whether an option is given, and not as `--option=false`.
  bool has(const char* option) const {
    const auto found = given.find(option);
    return found != given.end() && found->second.text != "false";
  }
};

/// @throws UsageError for an unknown option, a missing or an empty value, or an option that is given twice
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace recon

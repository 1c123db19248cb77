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

/// One line `key = value` of a configuration file.
struct ConfigEntry {
  int line = 0;  ///< from 1
  std::string key, value;
};

/// The entries of a TOML document, in the order of the lines: numbers, texts and booleans, no tables or
/// arrays.
/// @param name  what messages call it
/// @throws UsageError that names the line and its text
std::vector<ConfigEntry> parse_config(const std::string& text, const std::string& name);

/// Adds the options of a configuration file to those given on the command line, which take precedence.
/// @throws UsageError where the file cannot be read; with its line, for an unknown option or one of the
/// command line only
void add_config(const std::string& file, GivenOptions& given);

}  // namespace recon

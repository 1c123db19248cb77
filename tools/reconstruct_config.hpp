#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace recon {

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

/// The same of a file.
/// @throws UsageError also when it cannot be read
std::vector<ConfigEntry> read_config(const std::string& file);

/// Sets the options that were not given on the command line; `app` is parsed.
/// @param file  what messages call it
/// @return the entries that were used
/// @throws UsageError that names the line, for an unknown option or a value of the wrong kind
std::vector<ConfigEntry> apply_config(const std::vector<ConfigEntry>& entries, const std::string& file,
                                      CLI::App& app);

/// All configurable options that have a value, as `parse_config` reads them back.
std::string config_text(const CLI::App& app);

}  // namespace recon

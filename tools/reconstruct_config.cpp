#include "tools/reconstruct_config.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "session/options/option_check.hpp"

namespace recon {

namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

[[noreturn]] void refuse(const std::string& file, int line, const std::string& what) {
  throw UsageError(file + ":" + std::to_string(line) + ": " + what);
}

int line_of(const toml::source_region& region) {
  return static_cast<int>(region.begin.line);
}

/// A value as the command line has it; empty for tables, arrays and dates, which no option takes.
std::string value_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto number = node.value_exact<double>()) return decimal(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  return {};
}

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

/// What an option takes, for messages.
std::string kind_of(const CLI::Option& option) {
  if (is_flag(option)) return "true or false";
  return option.get_type_name() == "INT" ? "a whole number" : "a number";
}

bool is_number(const CLI::Option& option) {
  return option.get_type_name() == "INT" || option.get_type_name() == "FLOAT";
}

void set_option(CLI::Option& option, const std::string& value) {
  if (is_flag(option) && value != "true" && value != "false")
    throw CLI::ConversionError(value, option.get_name());
  option.add_result(value);
  option.run_callback();
}

/// The value that an option has as the command line and a configuration leave it; empty: none.
std::string value_text(const CLI::Option& option) {
  if (is_flag(option)) return option.count() > 0 && option.as<bool>() ? "true" : "false";
  const std::string text = option.count() > 0 ? option.results().back() : option.get_default_str();
  if (text.empty() || is_number(option)) return text;
  std::ostringstream quoted;
  quoted << toml::value<std::string>(text);
  return quoted.str();
}

}  // namespace

std::vector<ConfigEntry> parse_config(const std::string& text, const std::string& name) {
  std::vector<ConfigEntry> entries;
  try {
    for (const auto& [key, node] : toml::parse(text, name)) {
      ConfigEntry entry{line_of(node.source()), std::string(key.str()), value_of(node)};
      if (entry.value.empty())
        refuse(name, entry.line,
               "'" + entry.key + "' has no value that an option takes; write " + entry.key +
                   " = value, a list as one text, or remove the line");
      entries.push_back(std::move(entry));
    }
  } catch (const toml::parse_error& error) {
    refuse(name, line_of(error.source()), std::string(error.description()));
  }
  std::sort(entries.begin(), entries.end(),
            [](const ConfigEntry& one, const ConfigEntry& other) { return one.line < other.line; });
  return entries;
}

std::vector<ConfigEntry> read_config(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad())
    throw UsageError("--config " + file + ": cannot be read: " + std::strerror(errno));
  if (!in.eof()) throw UsageError("--config " + file + ": is no configuration: it has more than 1 MiB");
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse_config(text, file);
}

std::vector<ConfigEntry> apply_config(const std::vector<ConfigEntry>& entries, const std::string& file,
                                      CLI::App& app) {
  std::vector<ConfigEntry> used;
  for (const ConfigEntry& entry : entries) {
    CLI::Option* option = app.get_option_no_throw("--" + entry.key);
    if (option == nullptr)
      refuse(file, entry.line,
             "there is no option '" + entry.key + "'; reconstruct --help lists the options");
    if (!option->get_configurable())
      refuse(file, entry.line, entry.key + " belongs on the command line, not in a configuration");
    if (option->count() > 0) continue;
    try {
      set_option(*option, entry.value);
      used.push_back(entry);
    } catch (const CLI::Error&) {
      refuse(file, entry.line, entry.key + " is '" + entry.value + "'; it must be " + kind_of(*option));
    }
  }
  return used;
}

std::string config_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    const std::string value = option->get_configurable() ? value_text(*option) : "";
    if (!value.empty()) text += option->get_single_name() + "=" + value + "\n";
  }
  return text;
}

}  // namespace recon

#include "tools/command_line.hpp"

#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/error.hpp"
#include "core/program.hpp"
#include "io/input_file.hpp"
#include "session/options/option.hpp"

namespace recon {

namespace {

/// "-o,--output".
std::string names_of(const Option& option) {
  return (option.letter != 0 ? std::string("-") + option.letter + "," : "") + "--" + option.name;
}

/// What is wrong with the arguments, in other terms than those of CLI11.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return "there is no option '" + app.remaining().front() + "'";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  return text.substr(0, text.find(':')) +
         (text.find("received") == std::string::npos ? " needs a value" : " is given more than once");
}

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

std::string text_of_file(const std::string& file) {
  try {
    return read_file(file, kMaxBytes);
  } catch (const InputError& error) {
    throw UsageError(std::string("--config ") + error.what());
  }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  refuse_empty_arguments(argc, argv);
  CommandLine line;
  CLI::App app;
  app.set_help_flag();
  app.add_option("INPUT", line.inputs);
  for (const Option* option : all_options()) {
    if (option->value.empty())
      app.add_flag(names_of(*option));
    else
      app.add_option(names_of(*option));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fault_of(app, error) + "; reconstruct --help lists the options");
  }
  for (const Option* option : all_options())
    if (const CLI::Option* parsed = app.get_option("--" + option->name); parsed->count() > 0)
      line.given[option->name] = {parsed->results().back()};
  return line;
}

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

void add_config(const std::string& file, GivenOptions& given) {
  for (const ConfigEntry& entry : parse_config(text_of_file(file), file)) {
    const Option* option = find_option(entry.key);
    if (option == nullptr)
      refuse(file, entry.line,
             "there is no option '" + entry.key + "'; reconstruct --help lists the options");
    if (option->scope == OptionScope::kCommandLine)
      refuse(file, entry.line, entry.key + " belongs on the command line, not in a configuration");
    given.try_emplace(entry.key, GivenOption{entry.value, file + ":" + std::to_string(entry.line) + ": "});
  }
}

}  // namespace recon

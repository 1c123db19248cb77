#include "tools/command_line.hpp"

#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/program.hpp"
#include "io/file/input_file.hpp"
#include "session/options/option.hpp"
#include "session/options/option_text.hpp"

namespace recon {

namespace {

constexpr const char* kHelpAdvice = "reconstruct --help-all lists the options";

/// "-o,--output".
std::string names_of(const Option& option) {
  return (option.letter != 0 ? std::string("-") + option.letter + "," : "") + "--" + option.name;
}

/// @param dashes  that an option begins with
std::string fault_of_option(const std::string& given, const std::string& dashes) {
  const std::size_t begin = std::min(given.find_first_not_of('-'), given.size());
  std::string word = given.substr(begin, given.find('=') - begin);
  std::ranges::replace(word, '_', '-');
  const std::string similar = most_similar_option(word);
  return "there is no option '" + given + "'; " +
         (similar.empty() ? "" : "did you mean " + dashes + similar + "? ") + kHelpAdvice;
}

/// What is wrong with the arguments, in other terms than those of CLI11.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return fault_of_option(app.remaining().front(), "--");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    text = text.substr(0, text.find(':')) +
           (text.find("received") == std::string::npos ? " needs a value" : " is given more than once");
  return text + "; " + kHelpAdvice;
}

/// A short option whose value would be the rest of the name of a long one, as in -output; CLI11 takes it.
/// @throws UsageError
void refuse_single_dash(int argc, const char* const* argv) {
  constexpr std::size_t kMinWord = 4;  // -ou may be the folder u
  for (int i = 1; i < argc && argv[i] != std::string_view("--"); ++i) {
    const std::string_view word = argv[i];
    if (word.size() < kMinWord || word[0] != '-' || word[1] == '-') continue;
    const std::string name(word.substr(1, word.find('=') - 1));
    const auto begins = [&](const Option* option) { return option->name.starts_with(name); };
    const auto options = all_options();
    if (const auto option = std::ranges::find_if(options, begins); option != options.end())
      throw UsageError("there is no option '" + std::string(word) + "'; did you mean --" + (*option)->name +
                       "? " + kHelpAdvice);
  }
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

/// Options of the command line that set others, which are then not taken from a configuration: options.toml
/// has the values of all, also of those that nobody gave.
const std::map<std::string, std::vector<std::string>> kSetsOthers = {
    {"quality", {"sources"}}, {"preset", {"cost", "aggregation", "optimizer", "refine"}}};

/// The option of the command line that sets another one; empty where there is none.
std::string set_by(const std::string& name, const GivenOptions& command_line) {
  for (const auto& [option, others] : kSetsOthers)
    if (command_line.contains(option) && contains(others, name)) return option;
  return {};
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  refuse_empty_arguments(argc, argv);
  refuse_single_dash(argc, argv);
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
    throw UsageError(fault_of(app, error));
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
    refuse(name, line_of(error.source()),
           std::string(error.description()) + "; lines are name = value, where a text has quotes");
  }
  std::ranges::sort(entries, {}, &ConfigEntry::line);
  return entries;
}

void add_config(const std::string& file, GivenOptions& given) {
  const GivenOptions command_line = given;
  for (const ConfigEntry& entry : parse_config(text_of_file(file), file)) {
    const Option* option = find_option(entry.key);
    if (option == nullptr) refuse(file, entry.line, fault_of_option(entry.key, ""));
    if (option->scope == OptionScope::kCommandLine)
      refuse(file, entry.line, entry.key + " belongs on the command line, not in a configuration");
    const std::string place = file + ":" + std::to_string(entry.line) + ": ";
    if (const std::string by = set_by(entry.key, command_line);
        !by.empty() && !command_line.contains(entry.key)) {
      messages().info("{}{} = {} is not taken: --{} of the command line sets it", place, entry.key,
                      entry.value, by);
      continue;
    }
    given.try_emplace(entry.key, GivenOption{entry.value, place});
  }
}

}  // namespace recon

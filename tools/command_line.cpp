#include "tools/command_line.hpp"

#include <CLI/CLI.hpp>

#include "core/program.hpp"
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

}  // namespace recon

#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/program.hpp"
#include "core/version.hpp"
#include "tools/commit.hpp"
#include "tools/manual/completion.hpp"

namespace recon {

/// Help of CLI11 in lines that fit the terminal. Set it before subcommands are added.
class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
    std::string text;
    for (std::string line; std::getline(lines, line);) text += fitting(line);
    return text;
  }

  /// Without what CLI11 writes of checks; ranges are among the descriptions.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string type = option->get_type_name();
    const std::size_t at = text.find(type), check = type.find(':');
    if (!type.empty() && at != std::string::npos && check != std::string::npos)
      text.replace(at, type.size(), type.substr(0, check));
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    const std::size_t begin = type.find(" in ["), middle = type.find(" - ", begin);
    if (begin == std::string::npos || middle == std::string::npos) return option->get_description();
    constexpr std::size_t kIn = 5, kDash = 3;
    const std::string min = type.substr(begin + kIn, middle - begin - kIn),
                      max = type.substr(middle + kDash, type.find(']') - middle - kDash);
    return option->get_description() + "; " + min + " to " + max;
  }

 private:
  /// A line whose description begins at the width of a column, wrapped below it.
  std::string fitting(const std::string& line) const {
    const auto columns = static_cast<std::size_t>(terminal_columns());
    if (line.size() <= columns) return line + "\n";
    const std::size_t start = line.starts_with(' ') ? get_column_width() : 0;
    return line.substr(0, start) + wrapped(line.substr(start), start, start, columns);
  }
};

/// The command line of a program beside `reconstruct`.
class ToolApp : public CLI::App {
 public:
  ToolApp(const std::string& description, const std::string& name) : CLI::App(description, name) {
    formatter(std::make_shared<WrappedHelp>());
    set_version_flag("--version", name + " " + recon::version() + " (" RECON_COMMIT ")");
  }

  /// @returns the exit code where that is all, as after --help
  std::optional<int> read(int argc, char** argv) {
    refuse_empty_arguments(argc, argv);
    if (argc == 3 && argv[1] == std::string("--completion")) {  // the build asks for it
      print_for_reading(completion_script(completed(*this), argv[2]));
      return 0;
    }
    try {
      parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) {
        std::ostringstream text;
        const int exit_code = exit(error, text, std::cerr);
        print_for_reading(text.str());
        return exit_code;
      }
      const auto commands = get_subcommands();
      throw UsageError(fault_of(error) + "; " + get_name() + " " +
                       (commands.empty() ? "" : commands.front()->get_name() + " ") +
                       "--help lists what it takes");
    }
    return std::nullopt;
  }

 private:
  /// What is wrong with the arguments, in other terms than those of CLI11.
  std::string fault_of(const CLI::ParseError& error) const {
    const std::vector<std::string> unknown = unknown_options();  // rather than what is missing beside them
    if (!unknown.empty()) return "there is no option '" + unknown.front() + "'";
    const auto commands = get_subcommands();
    if (const std::vector<std::string> rest = remaining(true); !rest.empty())
      return "'" + rest.front() + "' is not expected" + (commands.empty() ? "" : ": options have names");
    if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr || !get_subcommands().empty() ||
        get_require_subcommand_min() == 0)
      return error.what();
    std::string names;
    for (const CLI::App* command : get_subcommands({}))
      names += (names.empty() ? "" : ", ") + command->get_name();
    return "a command is missing, one of " + names;
  }

  std::vector<std::string> unknown_options() const {
    std::vector<std::string> unknown = remaining(true);
    std::erase_if(unknown, [](const std::string& it) { return it.size() < 2 || it.front() != '-'; });
    return unknown;
  }
};

}  // namespace recon

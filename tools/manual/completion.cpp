#include "tools/manual/completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "core/error.hpp"

namespace recon {

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// A word of any of the shells.
std::string quoted(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

/// The first clause of a description. A colon behind a single word, as in "estimate: up to ...", ends none.
std::string clause(const std::string& help) {
  std::size_t end = help.size();
  for (const char* mark : {". ", "; ", ", such"}) end = std::min(end, help.find(mark));
  const std::size_t colon = help.find(": ");
  return help.substr(0, help.find(' ') < colon ? std::min(end, colon) : end);
}

std::string function_name(const std::string& program) {
  return "_" + replaced(program, "-", "_");
}

/// The program and its commands.
std::vector<const CompletedCommand*> with_commands(const CompletedCommand& program) {
  std::vector<const CompletedCommand*> all = {&program};
  for (const CompletedCommand& command : program.commands) all.push_back(&command);
  return all;
}

std::string names_of(const std::vector<CompletedCommand>& commands, const char* between) {
  std::vector<std::string> names;
  for (const CompletedCommand& command : commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, between));
}

std::string bash_values(const CompletedOption& option) {
  if (option.value == "FILE") return "-f";
  if (option.value == "DIR") return "-d";
  return "-W '" + fmt::format("{}", fmt::join(option.words, " ")) + "'";
}

/// The cases of the values of options, which begin with the name of the command.
std::string bash_cases(const std::string& command, const std::vector<CompletedOption>& options) {
  std::string cases;
  for (const CompletedOption& option : options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back("'" + command + " " + name + "'");
    cases += fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$word\")) ;;\n", fmt::join(patterns, "|"),
                         bash_values(option));
  }
  return cases;
}

std::string bash_script(const CompletedCommand& program) {
  std::string cases, names;
  for (const CompletedCommand* command : with_commands(program)) {
    const std::string name = command == &program ? "" : command->name;
    cases += bash_cases(name, command->options);
    std::vector<std::string> options;
    for (const CompletedOption& option : command->options) options.push_back(option.names.back());
    names += fmt::format("    '{} -'*) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", name,
                         fmt::join(options, " "));
  }
  const std::string function = function_name(program.name);
  std::string find_command, offer_commands;
  if (!program.commands.empty()) {
    find_command = "  local at\n  for ((at = 1; at < COMP_CWORD; ++at)); do\n    case ${COMP_WORDS[at]} in " +
                   names_of(program.commands, "|") + ") command=${COMP_WORDS[at]}; break ;; esac\n  done\n";
    offer_commands =
        "    ' '*) COMPREPLY=($(compgen -W '" + names_of(program.commands, " ") + "' -- \"$word\")) ;;\n";
  }
  return "# Completion of " + program.name + " in bash.\n" + function + R"(() {
  # Bash takes colons and equal signs for words of their own: --device=cuda:0 is five.
  local i=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} before= option command=
  if [[ $word == [:=] ]]; then before=$word word=; i=$((i + 1)); fi
  if [[ $i -ge 2 && ${before:-${COMP_WORDS[i-1]}} == : ]]; then word=${COMP_WORDS[i-2]}:$word; i=$((i - 2)); fi
  option=${COMP_WORDS[i-1]}
  if [[ $option == = ]]; then option=${COMP_WORDS[i-2]}; fi
)" + find_command +
         R"(  COMPREPLY=()
  case "$command $option" in
)" + cases +
         R"(    *) case "$command $word" in
)" + names +
         offer_commands +
         R"(    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac ;;
  esac
  # What stands before the last colon is on the command line already.
  if [[ $word == *:* ]]; then COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}"); fi
}
complete -o filenames -F )" +
         function + " " + program.name + "\n";
}

/// Text in a specification of _arguments, which takes some characters for ends of its parts.
std::string zsh_text(std::string text) {
  for (const char* mark : {"\\", ":", "[", "]"}) text = replaced(text, mark, std::string("\\") + mark);
  return text;
}

std::string zsh_value(const CompletedOption& option) {
  if (option.value.empty()) return "";
  const std::string action = option.value == "FILE"  ? "_files"
                             : option.value == "DIR" ? "_files -/"
                             : option.words.empty()
                                 ? " "
                                 : "(" + zsh_text(fmt::format("{}", fmt::join(option.words, " "))) + ")";
  return ":" + zsh_text(option.value) + ":" + action;
}

/// A call of _arguments, which takes what stands behind the options.
std::string zsh_arguments(const CompletedCommand& command, const std::string& rest) {
  std::string text = "_arguments -s -S" + rest + " :";
  for (const CompletedOption& option : command.options) {
    const std::string others = fmt::format("({})", fmt::join(option.names, " "));
    for (const std::string& name : option.names) {
      const char* const joint = option.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
      text += " \\\n  " +
              quoted(others + name + joint + "[" + zsh_text(clause(option.help)) + "]" + zsh_value(option));
    }
  }
  return text;
}

std::string zsh_script(const CompletedCommand& program) {
  const std::string start = "#compdef " + program.name + "\n# Completion of " + program.name + " in zsh.\n";
  if (program.commands.empty()) return start + zsh_arguments(program, "") + " \\\n  '*:path:_files'\n";
  std::string descriptions, cases;
  for (const CompletedCommand& command : program.commands) {
    descriptions += fmt::format(" {}\\:\"{}\"", command.name, zsh_text(clause(command.help)));
    cases += "  " + command.name + ") " + zsh_arguments(command, "") + " \\\n  '*:path:_files' ;;\n";
  }
  return start + "local curcontext=$curcontext state line\ntypeset -A opt_args\n" +
         zsh_arguments(program, " -C") + " \\\n  " + quoted("1:command:((" + descriptions + " ))") +
         " \\\n  '*::argument:->argument' && return\ncase $line[1] in\n" + cases + "esac\n";
}

/// What a description says of a value, as in "auto (every usable GPU), ..." or "estimate: up to ...; ...";
/// empty where it says nothing.
std::string meaning_of(const std::string& value, const std::string& help) {
  const std::size_t end_of_word = value.size();
  for (std::size_t at = 0; (at = help.find(value, at)) != std::string::npos; at += end_of_word) {
    const auto is_in_word = [&](std::size_t i) {
      return i < help.size() && (std::isalnum(static_cast<unsigned char>(help[i])) || help[i] == '-');
    };
    if (at > 0 && is_in_word(at - 1)) continue;
    const std::string rest = help.substr(at + end_of_word);
    if (rest.starts_with(" (")) return rest.substr(2, rest.find(')') - 2);
    if (rest.starts_with(": ") && (at == 0 || help.substr(0, at).ends_with("; ")))
      return rest.substr(2, rest.find_first_of(";.") - 2);
  }
  return {};
}

/// The values with what they mean, in the syntax of fish.
std::string fish_values(const CompletedOption& option) {
  std::vector<std::string> values;
  for (const std::string& word : option.words) {
    const std::string meaning = meaning_of(word, option.help);
    values.push_back(meaning.empty() ? word : word + "\\t\"" + meaning + "\"");
  }
  return quoted(fmt::format("{}", fmt::join(values, " ")));
}

std::string fish_option(const CompletedOption& option, const std::string& start) {
  std::string text = start, values;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.value == "FILE")
    text += " -r -F";
  else if (option.value == "DIR")
    text += " -x -a '(__fish_complete_directories)'";
  else if (!option.value.empty())
    text += " -x";
  // A line of their own, as the description of the option would be that of each value.
  if (!option.words.empty()) values = text + " -a " + fish_values(option) + "\n";
  return values + text + " -d " + quoted(clause(option.help)) + "\n";
}

std::string fish_script(const CompletedCommand& program) {
  std::string text = "# Completion of " + program.name + " in fish.\n";
  const std::string start = "complete -c " + program.name;
  const std::string first = program.commands.empty() ? "" : " -n __fish_use_subcommand";
  for (const CompletedOption& option : program.options) text += fish_option(option, start + first);
  for (const CompletedCommand& command : program.commands) {
    text += start + first + " -f -a " + command.name + " -d " + quoted(clause(command.help)) + "\n";
    const std::string behind = start + " -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const CompletedOption& option : command.options) text += fish_option(option, behind);
  }
  return text;
}

/// The words of a type such as TEXT:{geometric,photometric}.
std::vector<std::string> words_of_type(const std::string& type) {
  std::vector<std::string> words;
  const std::size_t begin = type.find('{');
  if (begin == std::string::npos) return words;
  std::string word;
  for (const char c : type.substr(begin + 1)) {
    if (c == ',' || c == '}') words.push_back(std::exchange(word, {}));
    if (c == '}') break;
    if (c != ',') word += c;
  }
  return words;
}

void add_options(const CLI::App& app, CompletedCommand& command) {
  for (const CLI::Option* option : app.get_options()) {
    CompletedOption it;
    for (const std::string& name : option->get_snames()) it.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) it.names.push_back("--" + name);
    if (it.names.empty()) continue;
    const auto is_it = [&](const CompletedOption& other) { return other.names.back() == it.names.back(); };
    if (std::ranges::any_of(command.options, is_it)) continue;
    it.help = option->get_description();
    const std::string type = option->get_items_expected_max() > 0 ? option->get_type_name() : "";
    it.value = type.substr(0, type.find(':'));
    it.words = words_of_type(type);
    command.options.push_back(std::move(it));
  }
}

}  // namespace

CompletedCommand completed(const CLI::App& app) {
  CompletedCommand command{app.get_name(), app.get_description(), {}, {}};
  add_options(app, command);
  for (const CLI::App* it : app.get_subcommands([](const CLI::App*) { return true; })) {
    CompletedCommand& subcommand = command.commands.emplace_back(completed(*it));
    if (app.get_fallthrough()) add_options(app, subcommand);
  }
  return command;
}

std::string completion_script(const CompletedCommand& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw UsageError("there is no completion for '" + shell + "'; it can be bash, zsh or fish");
}

}  // namespace recon

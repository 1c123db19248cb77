// The page of the site with all options.

#include <fmt/format.h>

#include <regex>

#include "session/options/option.hpp"
#include "tools/manual/manual.hpp"

namespace recon {

namespace {

/// Text without what Markdown would take for a mark; options as code.
std::string marked(const std::string& text) {
  static const std::regex kMarks(R"([\\`*_<|])"), kOptions(R"(--[a-z][a-z0-9-]*)");
  return std::regex_replace(std::regex_replace(text, kMarks, R"(\$&)"), kOptions, "`$&`");
}

std::string heading(const Option& option) {
  return fmt::format("### --{}{}{}\n\n", option.name, option.value.empty() ? "" : " " + option.value,
                     option.letter == 0 ? "" : fmt::format(", -{}", option.letter));
}

}  // namespace

std::string option_reference() {
  std::string page =
      "# Options one by one\n\nEvery option of `reconstruct`, as `reconstruct --help-all` and `man "
      "reconstruct` "
      "have it; [Choosing options](options.md) is by aim. `reconstruct-evaluate`, `reconstruct-render` and "
      "`reconstruct-bench` describe theirs with `--help`.\n";
  for (const OptionGroup& group : option_groups()) {
    page += "\n## " + group.title + "\n";
    for (const Option& option : group.options) {
      page += "\n" + heading(option) + marked(option.marked_help()) + ".\n";
      if (const std::string defaults = option.defaults(); !defaults.empty())
        page += "\nDefault and range: " + marked(defaults) + ".\n";
    }
  }
  return page;
}

}  // namespace recon

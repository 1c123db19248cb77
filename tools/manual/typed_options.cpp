// SceneOptions and PairOptions of the library, in C++ and in Python.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "core/printable.hpp"
#include "session/options/option.hpp"
#include "tools/manual/manual.hpp"

namespace recon {

namespace {

constexpr std::size_t kCppColumns = 110, kPythonColumns = 118;

/// Whose options a type has.
struct Kind {
  const char* type;   ///< its name
  const char* file;   ///< the names of its files
  const char* what;   ///< for people
  const char* calls;  ///< that take them
  Jobs jobs;
};

const Kind kKinds[] = {{"SceneOptions", "scene_options", "scenes",
                        "`run`, and as far as they belong to them `sweep` and `fuse`", jobs::kScenes},
                       {"PairOptions", "pair_options", "rectified pairs", "`match`, and `run` of pairs",
                        jobs::kPairs & ~jobs::kSweep}};

/// An option with its values in one kind of jobs.
struct Member {
  const Option* option;
  std::string name;                   ///< of the member
  std::vector<std::string> keywords;  ///< empty: other values
};

std::string member_name(std::string option) {
  std::ranges::replace(option, '-', '_');
  return option;
}

std::vector<Member> members_of(const Kind& kind) {
  std::vector<Member> members;
  for (const Option* option : all_options()) {
    Member member{option, member_name(option->name), {}};
    bool belongs = false;
    for (const Setting& setting : option->settings) {
      if ((setting.jobs & kind.jobs) == 0) continue;
      belongs = true;
      for (const std::string& word : setting.keywords)
        if (!contains(member.keywords, word)) member.keywords.push_back(word);
    }
    if (option->name == "method" && (kind.jobs & jobs::kSweep) == 0)
      std::erase(member.keywords, method_keyword(Method::kPlaneSweep));  // which needs poses
    if (belongs && !is_of_terminal(*option)) members.push_back(std::move(member));
  }
  return members;
}

/// "best-k" as "BestK", the name of a type or, after a k, of a value.
std::string joined_words(const std::string& name) {
  std::string joined;
  bool begins = true;
  for (const char c : name) {
    if (c != '-') joined += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '-';
  }
  return joined;
}

/// The type of a value that is no keyword, by what the help calls it.
struct ValueType {
  const char *value, *cpp, *python;
};

ValueType value_type(const Option& option) {
  static const ValueType kTexts[] = {
      {"DIR", "std::filesystem::path", "Union[str, os.PathLike[str]]"},
      {"FILE", "std::filesystem::path", "Union[str, os.PathLike[str]]"},
      {"N|auto", "int", "Union[int, Literal[\"auto\"]]"},
      {"NUMBERS", "std::vector<double>", "Sequence[float]"},
      {"LIST", "std::vector<std::string>", "Union[str, Sequence[str]]"},
      {"SIZE", "std::uint64_t", "Union[int, str]"},
      {"mm|NUMBER", "std::string", "Union[str, float]"},
      {"auto|X,Y,Z", "std::string", "Union[Literal[\"auto\"], Sequence[float]]"}};
  switch (option.kind) {
    case ValueKind::kSwitch:
      return {"", "bool", "bool"};
    case ValueKind::kInteger:
      return {"", "int", "int"};
    case ValueKind::kDecimal:
      return {"", "double", "float"};
    case ValueKind::kText:
      break;
  }
  const auto known = std::ranges::find(kTexts, option.value, &ValueType::value);
  return known == std::end(kTexts) ? ValueType{"", "std::string", "str"} : *known;
}

/// What the manual says of an option, with the names of members.
std::string member_text(const Option& option) {
  static const std::regex kOptions("--([a-z][a-z0-9-]*)");
  const auto with_members = [](const std::string& text) {
    std::string result;
    auto at = text.begin();
    for (std::sregex_iterator it(text.begin(), text.end(), kOptions), end; it != end; ++it) {
      result.append(at, text.begin() + it->position()).append(fmt::format("`{}`", member_name((*it)[1])));
      at = text.begin() + it->position() + it->length();
    }
    return result.append(at, text.end());
  };
  std::string text = with_members(option.help);
  if (const std::string defaults = with_members(option.defaults()); !defaults.empty())
    text += ". Default and range: " + defaults;
  return text;
}

/// Lines with the same beginning each.
std::string prefixed(const std::string& begin, const std::string& text, std::size_t columns) {
  return std::regex_replace(wrapped(text, 0, 0, columns - begin.size()), std::regex("([^\n]*\n)"),
                            begin + "$1");
}

/// As clang-format has it.
std::string enumeration(const std::string& type, const std::vector<std::string>& values) {
  std::string line = fmt::format("  enum class {} {{ {} }};\n", type, fmt::join(values, ", "));
  if (line.size() <= kCppColumns + 1) return line;
  return fmt::format("  enum class {} {{\n    {}\n  }};\n", type, fmt::join(values, ",\n    "));
}

std::string field(const Kind& kind, const Member& member) {
  return fmt::format("    detail::field(\"{}\", &{}::{}, \"{}\"),\n", member.option->name, kind.type,
                     member.name, fmt::join(member.keywords, " "));
}

std::string cpp_header(const Kind& kind) {
  std::string text = fmt::format(
      "#pragma once\n\n// Made from the table of options by tools/manual/typed_options.cpp.\n\n"
      "#include <cstdint>\n#include <filesystem>\n#include <optional>\n#include <string>\n#include "
      "<vector>\n\n"
      "#include \"reconstruct/device.hpp\"\n#include \"reconstruct/export.hpp\"\n\n"
      "namespace reconstruct {{\n\n{}struct RECONSTRUCT_API {} {{\n",
      prefixed("/// ",
               fmt::format("The options of {}, for {}: as `Options` they have the names and texts of the "
                           "command line. What is empty is not given.",
                           kind.what, kind.calls),
               kCppColumns - 2),
      kind.type);
  for (const Member& member : members_of(kind)) {
    std::string type = value_type(*member.option).cpp;
    if (!member.keywords.empty()) {
      type = joined_words(member.option->name);
      std::vector<std::string> values;
      for (const std::string& word : member.keywords) values.push_back("k" + joined_words(word));
      text += enumeration(type, values);
    }
    text += prefixed("  /// ", member_text(*member.option), kCppColumns);
    text += fmt::format("  std::optional<{}> {} = {{}};\n", type, member.name);
  }
  return text +
         "\n  /// @throws UsageError for a value that is none of its type\n  operator Options() const;\n};\n"
         "\n}  // namespace reconstruct\n";
}

std::string cpp_source(const Kind& kind) {
  std::string fields;
  for (const Member& member : members_of(kind)) fields += field(kind, member);
  return fmt::format(
      "// Made from the table of options by tools/manual/typed_options.cpp.\n\n#include "
      "\"reconstruct/{0}.hpp\"\n\n#include \"api/typed_options.hpp\"\n\nnamespace reconstruct {{\n\n"
      "static constexpr std::tuple kFieldsOf{1} = {{\n{2}}};\n\n{1}::operator Options() const {{\n  "
      "return detail::guarded([&] {{ return detail::texts_of(*this, kFieldsOf{1}); }});\n}}\n\n"
      "}}  // namespace reconstruct\n",
      kind.file, kind.type, fields);
}

std::string python_class(const Kind& kind) {
  std::string text = fmt::format(
      "\"\"\"The options of {0}, made from the program's table of options by tools/manual/typed_options.cpp "
      "of the sources.\"\"\"\n\nfrom __future__ import annotations\n\nimport os\nfrom dataclasses import "
      "dataclass\nfrom typing import Literal, Optional, Sequence, Union\n\n__all__ = [\"{1}\"]\n\n\n"
      "@dataclass\nclass {1}:\n    \"\"\"The options of {0}, for {2}; what is None is not given.\n\n",
      kind.what, kind.type, kind.calls);
  const std::vector<Member> members = members_of(kind);
  for (const Member& member : members)
    text += "    " + wrapped(member.name + ": " + member_text(*member.option), 4, 8, kPythonColumns);
  text += "    \"\"\"\n\n";
  for (const Member& member : members) {
    const std::string type = member.keywords.empty()
                                 ? value_type(*member.option).python
                                 : fmt::format("Literal[\"{}\"]", fmt::join(member.keywords, "\", \""));
    text += fmt::format("    {}: Optional[{}] = None\n", member.name, type);
  }
  return text;
}

}  // namespace

std::vector<GeneratedFile> typed_options() {
  std::vector<GeneratedFile> files;
  for (const Kind& kind : kKinds) {
    files.push_back({fmt::format("sources/src/api/public/reconstruct/{}.hpp", kind.file), cpp_header(kind)});
    files.push_back({fmt::format("api/{}.cpp", kind.file), cpp_source(kind)});
    files.push_back({fmt::format("sources/tools/python/reconstruct/{}.py", kind.file), python_class(kind)});
  }
  return files;
}

}  // namespace recon

#include "tools/reconstruct_config.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "core/error.hpp"

namespace recon {

namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

/// What stands behind a backslash in a text, and what it means.
constexpr std::string_view kEscapes = "\"\\nrt", kEscaped = "\"\\\n\r\t";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// What follows a value: nothing, or a comment.
bool is_rest(std::string_view text) {
  text = trimmed(text);
  return text.empty() || text.front() == '#';
}

/// A line and its place, for messages.
struct Line {
  const std::string& file;
  int number;
  std::string_view text;

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(file + ":" + std::to_string(number) + ": " + what);
  }

  std::string quoted() const {
    constexpr std::size_t kMost = 80;
    return "'" + std::string(text.substr(0, kMost)) + (text.size() > kMost ? "...'" : "'");
  }
};

/// The text between quotes, behind which the line may only have a comment.
std::string quoted_value(std::string_view text, const Line& line) {
  const char quote = text.front();
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    char c = text[i];
    if (c == quote) {
      if (!is_rest(text.substr(i + 1))) line.refuse(line.quoted() + " goes on behind its value");
      return value;
    }
    if (c == '\\' && quote == '"') {
      const auto escape = ++i < text.size() ? kEscapes.find(text[i]) : std::string_view::npos;
      if (escape == std::string_view::npos)
        line.refuse(line.quoted() + " has a backslash in a text; write \\\\, or put the text in '...'");
      c = kEscaped[escape];
    }
    value += c;
  }
  line.refuse(line.quoted() + " lacks the closing quote");
}

std::string value_of(std::string_view text, const Line& line) {
  if (is_rest(text)) line.refuse(line.quoted() + " has no value; write one, or remove the line");
  if (text.front() == '"' || text.front() == '\'') return quoted_value(text, line);
  if (text.front() == '[')
    line.refuse(line.quoted() + " has an array; write a list as one text, such as \"lr,median\"");
  return std::string(trimmed(text.substr(0, text.find('#'))));
}

ConfigEntry parse_line(const Line& line) {
  if (line.text.front() == '[') line.refuse(line.quoted() + " begins a table; options stand in none");
  const auto equals = line.text.find('=');
  const std::string_view key = trimmed(line.text.substr(0, equals));
  if (equals == std::string_view::npos || key.empty())
    line.refuse(line.quoted() + " is no option; write option = value, such as window = 7");
  ConfigEntry entry{line.number, std::string(key), value_of(trimmed(line.text.substr(equals + 1)), line)};
  if (entry.value.empty()) line.refuse(entry.key + " has an empty value; write one, or remove the line");
  return entry;
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

/// A text in quotes, as quoted_value reads it.
std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto escape = kEscaped.find(c);
    if (escape == std::string_view::npos)
      quoted += c;
    else
      quoted += {'\\', kEscapes[escape]};
  }
  return quoted + "\"";
}

/// The value that an option has as the command line and a configuration leave it; empty: none.
std::string value_text(const CLI::Option& option) {
  if (is_flag(option)) return option.count() > 0 && option.as<bool>() ? "true" : "false";
  const std::string text = option.count() > 0 ? option.results().back() : option.get_default_str();
  return text.empty() || is_number(option) ? text : in_quotes(text);
}

}  // namespace

std::vector<ConfigEntry> parse_config(const std::string& text, const std::string& name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::istringstream lines(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text);
  std::vector<ConfigEntry> entries;
  std::map<std::string, int> line_of;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (is_rest(line)) continue;
    const Line place{name, number, trimmed(line)};
    ConfigEntry entry = parse_line(place);
    const auto [first, added] = line_of.emplace(entry.key, number);
    if (!added) place.refuse(entry.key + " stands in line " + std::to_string(first->second) + " already");
    entries.push_back(std::move(entry));
  }
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
    const Line line{file, entry.line, {}};
    CLI::Option* option = app.get_option_no_throw("--" + entry.key);
    if (option == nullptr)
      line.refuse("there is no option '" + entry.key + "'; reconstruct --help lists the options");
    if (!option->get_configurable())
      line.refuse(entry.key + " belongs on the command line, not in a configuration");
    if (option->count() > 0) continue;
    try {
      set_option(*option, entry.value);
      used.push_back(entry);
    } catch (const CLI::Error&) {
      line.refuse(entry.key + " is '" + entry.value + "'; it must be " + kind_of(*option));
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

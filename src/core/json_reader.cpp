#include "core/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace recon {
namespace {

/// A value for a message: as in the file, truncated to a limited length.
std::string shown(const nlohmann::json& value) {
  constexpr std::size_t kLongest = 60;
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

bool is_integer(const nlohmann::json& v) {
  constexpr double kMost = std::numeric_limits<int>::max();
  return v.is_number_integer() && std::abs(v.get<double>()) <= kMost;
}

/// Appends the elements of a list; false when one is no number.
bool append_numbers(const nlohmann::json& list, std::vector<double>& numbers) {
  for (const nlohmann::json& element : list) {
    if (!element.is_number()) return false;
    numbers.push_back(element.get<double>());
  }
  return true;
}

/// A JSON text in which numbers that are not finite are in quotes, so that each is refused where it stands:
/// NaN, Infinity and -Infinity, as Python writes them, and such as 1e999.
class QuotedNumbers {
 public:
  explicit QuotedNumbers(std::string_view text) {
    constexpr std::string_view kQuote = "\"",
                               kWord = "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    text_.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at + 1;
      if (text.substr(at, 2) == "//") {
        end = std::min(text.find('\n', at), text.size());
      } else if (text.substr(at, 2) == "/*") {
        end = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
      } else if (text[at] == '"') {
        while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
        end = std::min(end + 1, text.size());
      } else if (kWord.find(text[at]) != std::string_view::npos) {
        end = std::min(text.find_first_not_of(kWord, at), text.size());
      }
      const std::string word(text.substr(at, end - at));
      if (is_not_finite(word)) {
        quoted_.push_back(text_.size());
        text_.append(kQuote).append(word).append(kQuote);
      } else {
        text_ += word;
      }
      at = end;
    }
  }

  const std::string& text() const { return text_; }

  /// The byte of the original text at which a byte of `text` was; both counted from 1.
  std::size_t original_byte(std::size_t byte) const {
    const auto before = std::ranges::lower_bound(quoted_, byte) - quoted_.begin();
    return byte - std::min(byte, 2 * static_cast<std::size_t>(before));
  }

 private:
  static bool is_not_finite(const std::string& word) {
    if (word == "NaN" || word == "Infinity" || word == "-Infinity") return true;
    constexpr std::size_t kFinite = 300;  // digits
    const bool may_be_large = word.size() > kFinite || word.find_first_of("eE") != std::string::npos;
    return may_be_large && word.find_first_of("0123456789") <= 1 &&
           std::isinf(std::strtod(word.c_str(), nullptr));
  }

  std::string text_;
  std::vector<std::size_t> quoted_;  ///< where they begin in `text_`
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  constexpr int kMaxDepth = 32;
  const auto check_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kMaxDepth)
      throw InputError(
          fmt::format("{}: lists and objects are nested more than {} deep; nothing that is read from it is",
                      file, kMaxDepth));
    return true;
  };
  const QuotedNumbers quoted(text);
  try {
    return nlohmann::json::parse(quoted.text(), check_depth, true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& error) {
    if (const std::size_t prefix = utf8_prefix(text); prefix < text.size())
      throw InputError(fmt::format(
          "{}: byte {}: the text is not UTF-8 from here on; save it in that encoding", file, prefix + 1));
    constexpr std::size_t kShown = 20;
    const std::size_t byte = quoted.original_byte(error.byte), end = std::min(byte, text.size());
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n') + 1;
    const std::string reason =
        byte > text.size() ? "the text ends here"
                           : "it goes wrong at the end of " +
                                 shown(text.substr(end - std::min(end, kShown), std::min(end, kShown)));
    throw InputError(
        fmt::format("{}: byte {}: this is not JSON, in line {}: {}; correct it, or write the file again",
                    file, byte, line, reason));
  }
}

JsonReader::JsonReader(const nlohmann::json& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {
  if (!value.is_object()) fail_value(path_, value, "an object in braces");
}

std::string JsonReader::path_of(const std::string& name) const {
  return path_.empty() ? name : path_ + "." + name;
}

void JsonReader::fail(const std::string& name, const std::string& message) const {
  throw InputError(place_of(name) + ": " + message);
}

void JsonReader::fail_value(const std::string& path, const nlohmann::json& value,
                            const std::string& rule) const {
  throw InputError(fmt::format("{}: {} is {}; it must be {}", file_, path.empty() ? "the file" : path,
                               shown(value), rule));
}

const nlohmann::json& JsonReader::member(const std::string& name, const char* kind, const Kind& is_kind) {
  asked_.insert(name);
  if (!has(name)) fail(name, "is missing; it must be {}", kind);
  const nlohmann::json& value = value_->at(name);
  if (!is_kind(value)) fail_value(path_of(name), value, kind);
  return value;
}

double JsonReader::number(const std::string& name) {
  return member(name, "a number", &nlohmann::json::is_number).get<double>();
}

int JsonReader::integer(const std::string& name) {
  return member(name, "an integer in range", is_integer).get<int>();
}

std::string JsonReader::text(const std::string& name) {
  return member(name, "a text in quotes", &nlohmann::json::is_string).get<std::string>();
}

bool JsonReader::flag(const std::string& name, bool otherwise) {
  return has(name) ? member(name, "true or false", &nlohmann::json::is_boolean).get<bool>() : otherwise;
}

std::vector<double> JsonReader::numbers(const std::string& name) {
  const nlohmann::json& list = member(name, "a list of numbers", &nlohmann::json::is_array);
  std::vector<double> result;
  if (!append_numbers(list, result)) fail_value(path_of(name), list, "a list of numbers");
  return result;
}

std::vector<double> JsonReader::matrix(const std::string& name, std::size_t min_rows, std::size_t rows,
                                       std::size_t columns) {
  const std::string kind =
      fmt::format("a list of {}{} rows of {} numbers",
                  min_rows < rows ? std::to_string(min_rows) + " or " : std::string(), rows, columns);
  const nlohmann::json& list = member(name, kind.c_str(), &nlohmann::json::is_array);
  std::vector<double> result;
  for (std::size_t r = 0; r < list.size(); ++r) {
    if (!list[r].is_array() || list[r].size() != columns) fail_value(path_of(name), list, kind);
    for (std::size_t c = 0; c < columns; ++c)
      if (!list[r][c].is_number())
        fail_value(fmt::format("{}[{}][{}]", path_of(name), r, c), list[r][c], "a finite number");
    append_numbers(list[r], result);
  }
  if (list.size() < min_rows || list.size() > rows) fail_value(path_of(name), list, kind);
  return result;
}

Vec3d JsonReader::vec3(const std::string& name) {
  const std::vector<double> v = numbers(name);
  if (v.size() != 3) fail_value(path_of(name), value_->at(name), "a list of three numbers");
  return {v[0], v[1], v[2]};
}

JsonReader JsonReader::object(const std::string& name) {
  return {member(name, "an object in braces", &nlohmann::json::is_object), file_, path_of(name)};
}

std::vector<JsonReader> JsonReader::objects(const std::string& name) {
  const nlohmann::json& list = member(name, "a list of objects", &nlohmann::json::is_array);
  std::vector<JsonReader> result;
  for (std::size_t i = 0; i < list.size(); ++i)
    result.emplace_back(list[i], file_, path_of(name) + "[" + std::to_string(i) + "]");
  return result;
}

std::vector<std::string> JsonReader::names() const {
  std::vector<std::string> result;
  for (const auto& item : value_->items()) result.push_back(item.key());
  return result;
}

void JsonReader::finish() const {
  for (const std::string& name : names())
    if (!asked_.contains(name)) fail(name, "is not known here; known are: {}", fmt::join(asked_, ", "));
}

}  // namespace recon

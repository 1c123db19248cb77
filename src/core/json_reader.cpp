#include "core/json_reader.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "core/error.hpp"

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
  try {
    return nlohmann::json::parse(text, check_depth, true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& error) {
    throw InputError(fmt::format("{}: byte {}: this is not JSON: {}", file, error.byte, error.what()));
  } catch (const nlohmann::json::out_of_range& error) {
    throw InputError(file + ": a number is too large: " + error.what());
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

std::vector<double> JsonReader::matrix(const std::string& name, std::size_t rows, std::size_t columns) {
  const std::string kind = fmt::format("a list of {} rows of {} numbers", rows, columns);
  const nlohmann::json& list = member(name, kind.c_str(), &nlohmann::json::is_array);
  std::vector<double> result;
  for (const nlohmann::json& row : list) {
    if (!row.is_array() || row.size() != columns || !append_numbers(row, result))
      fail_value(path_of(name), list, kind);
  }
  if (list.size() != rows) fail_value(path_of(name), list, kind);
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

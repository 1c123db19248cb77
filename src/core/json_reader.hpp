#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/vec.hpp"

namespace recon {

/// The value of a JSON text, which may have comments. Numbers that are not finite, such as NaN, become
/// strings, so that whoever asks for a number refuses them by their place.
/// @param file  name for messages
/// @throws InputError with file, byte and line when it is no JSON, and when lists and objects are nested more
/// than 32 deep: what writes a value for a message is recursive
nlohmann::json parse_json(std::string_view text, const std::string& file);

/// Reads the members of one JSON object and tracks its path, so that every InputError names the file and the
/// field, the value found and what it has to be. `finish` rejects members that were not read.
class JsonReader {
 public:
  /// @param value  must outlive the reader
  /// @param file   name for messages
  /// @param path   of `value` in the file, such as "objects[3].texture"; empty for the whole file
  JsonReader(const nlohmann::json& value, std::string file, std::string path);

  bool has(const std::string& name) const { return value_->contains(name); }

  /// Required members.
  double number(const std::string& name);
  int integer(const std::string& name);
  std::string text(const std::string& name);
  Vec3d vec3(const std::string& name);
  std::vector<double> numbers(const std::string& name);
  /// A list of rows, each a list of numbers; returned row by row.
  std::vector<double> matrix(const std::string& name, std::size_t min_rows, std::size_t rows,
                             std::size_t columns);
  JsonReader object(const std::string& name);
  std::vector<JsonReader> objects(const std::string& name);

  /// Optional members with a default.
  double number(const std::string& name, double otherwise) { return has(name) ? number(name) : otherwise; }
  int integer(const std::string& name, int otherwise) { return has(name) ? integer(name) : otherwise; }
  Vec3d vec3(const std::string& name, Vec3d otherwise) { return has(name) ? vec3(name) : otherwise; }
  bool flag(const std::string& name, bool otherwise);

  /// Whether a member is a string, such as a reference by name.
  bool is_text(const std::string& name) const { return has(name) && value_->at(name).is_string(); }

  /// Whether a member is a number.
  bool is_number(const std::string& name) const { return has(name) && value_->at(name).is_number(); }

  /// Names of all members, in alphabetical order.
  std::vector<std::string> names() const;

  /// @throws InputError for the first member that was not read
  void finish() const;

  /// "<file>: <path>.<name>", for messages.
  std::string place_of(const std::string& name) const { return file_ + ": " + path_of(name); }

  /// @throws InputError "<file>: <path>.<name>: <message>"
  [[noreturn]] void fail(const std::string& name, const std::string& message) const;
  template <class First, class... Rest>
  [[noreturn]] void fail(const std::string& name, fmt::format_string<First, Rest...> message,
                         const First& first, const Rest&... rest) const {
    fail(name, fmt::vformat(message, fmt::make_format_args(first, rest...)));
  }

 private:
  std::string path_of(const std::string& name) const;
  using Kind = std::function<bool(const nlohmann::json&)>;
  const nlohmann::json& member(const std::string& name, const char* kind, const Kind& is_kind);
  [[noreturn]] void fail_value(const std::string& path, const nlohmann::json& value,
                               const std::string& rule) const;

  const nlohmann::json* value_;
  std::string file_, path_;
  std::set<std::string> asked_;
};

}  // namespace recon

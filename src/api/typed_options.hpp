#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "api/call.hpp"
#include "core/error.hpp"
#include "core/plain_number.hpp"
#include "reconstruct/device.hpp"

/// From the members of SceneOptions and PairOptions to texts.

namespace reconstruct::detail {

/// A member of typed options.
template <class Struct, class Value>
struct Field {
  const char* option;
  std::optional<Value> Struct::*member;
  std::string_view keywords;  ///< of an enumeration in the order of its values, with blanks between them
};

template <class Struct, class Value>
constexpr Field<Struct, Value> field(const char* option, std::optional<Value> Struct::*member,
                                     std::string_view keywords) {
  return {option, member, keywords};
}

/// The word at an index, empty where there is none.
inline std::string word_at(std::string_view words, std::size_t index) {
  for (; index > 0 && !words.empty(); --index)
    words.remove_prefix(std::min(words.find(' '), words.size() - 1) + 1);
  return std::string(words.substr(0, words.find(' ')));
}

template <class Value>
std::string option_text(const Value& value, std::string_view keywords) {
  if constexpr (std::is_enum_v<Value>) {
    return word_at(keywords, static_cast<std::size_t>(value));
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return recon::plain(value);
  } else if constexpr (std::is_convertible_v<Value, std::string>) {
    return value;
  } else {
    std::string list;
    for (const auto& part : value) list += (list.empty() ? "" : ",") + option_text(part, {});
    return list;
  }
}
inline std::string option_text(const std::filesystem::path& value, std::string_view /*keywords*/) {
  return value.string();
}

/// The options that are given.
template <class Struct, class... Value>
Options texts_of(const Struct& options, const std::tuple<Field<Struct, Value>...>& fields) {
  Options texts;
  const auto add = [&](const auto& field) {
    const auto& value = options.*field.member;
    if (!value) return;
    std::string text = option_text(*value, field.keywords);
    if (text.empty())
      throw UsageError(std::string("--") + field.option +
                       " has an empty value, or one that is none of its type");
    texts[field.option] = std::move(text);
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, fields);
  return texts;
}

}  // namespace reconstruct::detail

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "session/options/option.hpp"

namespace recon {

/// Options by their names: switches as truth values, numbers as numbers, others as texts.
/// @param resolved  see SessionOptions::resolved_values
inline nlohmann::json option_values(const std::vector<std::pair<const Option*, std::string>>& resolved) {
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [option, text] : resolved) {
    nlohmann::json& value = values[option->name];
    if (option->kind == ValueKind::kSwitch)
      value = text == "true";
    else if (option->kind == ValueKind::kInteger)
      value = parse_number<int>(text);
    else if (option->kind == ValueKind::kDecimal)
      value = parse_number<double>(text);
    else
      value = text;
  }
  return values;
}

}  // namespace recon

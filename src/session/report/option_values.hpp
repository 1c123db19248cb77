#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "session/options/option.hpp"

namespace recon {

/// The options that a job uses, by their names: switches as truth values, numbers as numbers, others as
/// texts.
inline nlohmann::json option_values(const SessionOptions& options, Job job) {
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [option, text] : options.resolved_values(job)) {
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

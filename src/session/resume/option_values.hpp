#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace recon {

// The values of options as people write them, from the inputs of a step, see step_inputs.hpp.

/// A part of inputs; null where it is absent.
/// @param pointer  a JSON pointer
nlohmann::json part(const nlohmann::json& inputs, const char* pointer);

/// A value for people; "none" where there is none.
std::string shown(const nlohmann::json& value);

std::string method_of(const nlohmann::json& inputs);
std::string refinement_of(const nlohmann::json& inputs);
std::string roi_of(const nlohmann::json& inputs);

/// An option, and how its value follows from the inputs or from the value at its place in them; from neither
/// where inputs have it in another unit.
struct OptionRule {
  const char* option;
  std::string (*by_inputs)(const nlohmann::json&) = nullptr;
  std::string (*by_value)(const nlohmann::json&) = nullptr;
};

/// The rule for the value at a place in the stages of a method, such as "patch/radius"; null where there is
/// none.
const OptionRule* find_option_rule(const std::string& place);

}  // namespace recon

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace recon {

/// What is said of a record that this program did not write.
inline constexpr const char* kDamagedRecord = "its record is damaged";

/// What stands in the way of keeping finished work, for people: the options by their names on the command
/// line with both values, and photos, masks, cameras and poses by the names of their views, such as
/// "--window 5 -> 7, another photo of view03.png and 2 more changes". Empty when nothing has changed. Of
/// values that no step has, such as in a record changed by hand, `kDamagedRecord`.
/// @param found   the inputs of a finished step, as step_inputs.hpp makes them, also of an earlier version;
///                any other value is allowed
/// @param wanted  those that it would have now
std::string describe_change(const nlohmann::json& found, const nlohmann::json& wanted);

}  // namespace recon

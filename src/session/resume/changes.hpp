#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace recon {

/// What is said of a record that this program did not write.
inline constexpr const char* kDamagedRecord = "its record is damaged";

/// A thing that has changed, for people, such as "another photo of view03.png and 2 more". Results of which
/// changes are of one `kind` are made again for the same cause.
struct StaleCause {
  std::string kind, text;
};

/// One of a kind of its own.
inline StaleCause cause(const std::string& text) {
  return {text, text};
}

/// All that stands in the way of keeping finished work, for people: the options by their names on the command
/// line with both values, and photos, masks, cameras and poses by the names of their views, such as
/// "--window 5 -> 7" and "another photo of view03.png". Empty when nothing has changed. Of values that no
/// step has, such as in a record changed by hand, `kDamagedRecord`.
/// @param found   the inputs of a finished step, as step_inputs.hpp makes them, also of an earlier version;
///                any other value is allowed
/// @param wanted  those that it would have now
std::vector<StaleCause> list_changes(const nlohmann::json& found, const nlohmann::json& wanted);

/// As many changes as fit into a line, and how many more there are.
std::string in_one_line(const std::vector<StaleCause>& changes);

}  // namespace recon

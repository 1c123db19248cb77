#pragma once

#include <string>

namespace recon {

// Lines that the plans of scenes and of pairs have in common.

/// What is left to do where all results of an earlier run serve.
inline constexpr const char* kNothingToDo = "  to do: nothing, all is finished and kept\n";

/// @param reason  why results of an earlier run do not serve; empty: there are none
/// @returns  empty where there are none
inline std::string in_place_text(const std::string& reason) {
  return reason.empty() ? "" : "  in the place of earlier results: " + reason + "\n";
}

}  // namespace recon

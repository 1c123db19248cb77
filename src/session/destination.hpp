#pragma once

#include <filesystem>
#include <vector>

#include "session/options/inputs.hpp"

namespace recon {

/// Where the results of inputs go.
struct Destination {
  std::vector<std::filesystem::path> given;  ///< the inputs by the names that the user gives
  std::filesystem::path output;              ///< --output; empty: not given

  /// Whether the inputs make a session: they are several, or the only one was found by way of a folder, a
  /// list or a pattern, which may name several the next time.
  bool is_session(const std::vector<Input>& inputs) const;

  /// The folder for the results of all inputs together: --output, or the only folder given; empty: there is
  /// none.
  std::filesystem::path session_folder() const;

  /// The output folder of an input.
  /// @param in_session  each input gets a folder of its own name inside --output
  std::filesystem::path of(const Input& input, bool in_session) const;

  /// @throws UsageError when results would be written over an input, or those of two inputs into one folder
  void check(const std::vector<Input>& inputs) const;
};

}  // namespace recon

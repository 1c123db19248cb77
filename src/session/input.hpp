#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/options/inputs.hpp"
#include "session/options/options.hpp"

namespace recon {

/// What the inputs mean: two image files are a pair; a folder is a scene, a pair, or has folders below it, at
/// any depth (taken by name), that are; results of this program are none. A text file (.txt) lists inputs,
/// one a line, relative to its own folder; # begins a comment. An input that is not there may be a pattern of
/// the shell. The session.jsonl and index.html of a session are no inputs beside others. A folder that is
/// nothing of this, an input that is not there or cannot be looked up, and a folder below that has parts of a
/// scene or a pair but not all are unusable inputs; of a part of a scene, such as its images/, the reason
/// names the scene.
/// @param images   the folder of the photos of scenes, inside each scene or else anywhere; empty: images/
/// @param skipped  set to what is said of folders below that hold photos and are none; empty: there are none
/// @throws InputError when a file is not there
/// @throws UsageError for image files that are not two, or not alone
std::vector<Input> expand_inputs(const std::vector<std::filesystem::path>& inputs,
                                 const std::filesystem::path& images = {}, std::string* skipped = nullptr);

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

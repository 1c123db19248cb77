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

}  // namespace recon

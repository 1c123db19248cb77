#pragma once

#include <filesystem>
#include <string>

#include "io/file/input_file.hpp"

namespace recon {

/// A photo or a mask that a model names by a path.
struct ModelFile {
  std::string name;   ///< for results: stays inside any folder
  std::string path;   ///< relative to the folder of the photos; ../NAME where it lies beside that folder
  bool found = true;  ///< false: the path is absolute, or the photos were moved, and it is not there
};

/// Finds a file that a model names by `stated`, with / or \ between the components: relative to `folder`, in
/// it or in its parent. An absolute path is of the machine that wrote the model: its last components are
/// looked for in the folder, as many as possible. A photo may lack its ending, see `find_image`.
/// @param moved  the folder is not the one that the model speaks of: relative paths are treated as absolute
/// ones
/// @throws InputError with `place` for a path that leads out of the parent, and as `check_relative_name`
ModelFile find_model_file(const std::filesystem::path& folder, const std::string& stated, bool moved,
                          const FilePlace& place);

}  // namespace recon

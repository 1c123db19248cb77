#pragma once

#include <string>
#include <vector>

namespace recon {

struct SceneRun;

/// The files that a run writes into the output folder, but for tiles, whose names follow from the cloud.
std::vector<std::string> files_to_write(const SceneRun& run);

/// @throws UsageError where a file to write is a photo, a mask, a given map or a file of the model
void check_inputs_stay(const SceneRun& run);

/// Looks before the work at what would spoil its end.
/// @throws UsageError where the folder of the tiles is a link, or files beside the written model change its
/// meaning
void check_folders(const SceneRun& run);

/// Removes the files of views that an earlier run had and the model has no more.
/// @throws OutputError
void remove_files_of_departed_views(const SceneRun& run);

/// @throws OutputError where a file of a finished step is not there any more
void check_results_are_there(const SceneRun& run);

}  // namespace recon

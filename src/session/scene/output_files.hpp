#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/content_hash.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"
#include "session/products/targets.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// A file of the cloud.
struct CloudFile {
  std::string name;
  std::uint64_t point_bytes = 0;  ///< on the disk for each point, at most
  /// Whether a run writes it; null: each does.
  bool (*wanted)(const ScenePlan& plan, const CloudSettings& cloud) = nullptr;
  /// Writes it when the cloud is complete; null: its points are written as they are fused.
  FileIdentity (*write)(const Workspace& workspace, const ScenePlan& plan,
                        const CloudSettings& cloud) = nullptr;

  bool is_wanted(const ScenePlan& plan, const CloudSettings& cloud) const {
    return wanted == nullptr || wanted(plan, cloud);
  }
};

/// All files that a cloud may have. What a run must not write over, what it writes, records and removes of
/// earlier runs, and the space that it needs follow from this table.
const std::vector<CloudFile>& cloud_files();

/// What a run writes for.
struct PlannedOutput {
  const ScenePlan& plan;
  const Targets& targets;
  const SceneSettings& settings;
  const Workspace& workspace;
};

/// The files that a run writes into the output folder, but for tiles, whose names follow from the cloud.
std::vector<std::string> files_to_write(const PlannedOutput& output);

/// Bytes that the results of a plan and temporary files of tiles take on the disk at a time, at most (the
/// cloud is an estimate).
std::uint64_t output_bytes(const ScenePlan& plan, const SceneSettings& settings);

/// @throws UsageError where a file to write is a photo, a mask, a given map or a file of the model
void check_inputs_stay(const PlannedOutput& output, const SceneInput& input);

/// Looks before the work at what would spoil its end, in a folder whose list of files is loaded.
/// @throws UsageError where the folder of the tiles is a link, files beside the written model change its
/// meaning, or the results are `of_others` (is_of_others) and share no photo with the run's
void check_folders(const PlannedOutput& output, bool of_others);

/// Removes the files of views that an earlier run had and the model has no more.
/// @throws OutputError
void remove_files_of_departed_views(const SceneInput& input, SceneProducts& products);

/// What a run removes of earlier ones and does not write again, and why: a text for each kind, such as "the 6
/// tiles in dense/tiles, as --tile is not given". The list of files is loaded.
std::vector<std::string> removals(const PlannedOutput& output, const SceneInput& input);

/// That the cloud of an earlier run, which is of more views, is replaced by one of `views`; empty where it is
/// not, or there is none.
std::string fewer_views(const Workspace& workspace, std::size_t views);

/// @throws OutputError where a file of a finished step is not there any more
void check_results_are_there(const SceneProducts& products);

}  // namespace recon

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/content_hash.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
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

}  // namespace recon

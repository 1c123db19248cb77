#pragma once

#include <string>

#include "session/resume/output_folder.hpp"

namespace recon {

/// Gives the cloud in an output folder another name, fused.changed.ply or one with a number, where somebody
/// has changed it since a run wrote it.
/// @param step  whose record has the cloud
/// @returns  a warning that names both; empty where there is no such cloud
/// @throws OutputError
std::string keep_changed_cloud(const Workspace& workspace, Step step);

}  // namespace recon

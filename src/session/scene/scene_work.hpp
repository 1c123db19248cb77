#pragma once

#include "core/log_file.hpp"
#include "session/input.hpp"
#include "session/shared_work.hpp"

namespace recon {

/// All steps of one scene, or with --dry-run its plan.
/// @param log  opened once the output folder may be written to
/// @throws Error of any kind: the scene has no result
Outcome do_scene(const SceneFolder& folder, const SharedWork& work, LogFile& log);

}  // namespace recon

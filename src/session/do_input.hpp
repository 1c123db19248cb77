#pragma once

#include <string>
#include <vector>

#include "session/options/inputs.hpp"
#include "session/session.hpp"

namespace recon {

class LogFile;

/// All steps of one scene, or with --dry-run its plan.
/// @param log       opened once the output folder may be written to
/// @param warnings  set where it throws: what had been warned of
/// @throws Error of any kind: the scene has no result
Outcome do_scene(const SceneFolder& folder, const SharedWork& work, LogFile& log,
                 std::vector<std::string>& warnings);

/// Matches a rectified pair and writes disparity.pfm, disparity.png and preview.png, with a calibration
/// depth.pfm and fused.ply, and the reports; finished and unchanged results are kept. With --dry-run its
/// plan: sizes, disparities, memory, and the time of the matching; no results are written.
/// @throws InputError when nothing matches, or a calibration gives no points
/// @throws UsageError, OutOfMemory, OutputError, DeviceError, Interrupted
Outcome do_pair(const PairFiles& files, const SharedWork& work);

}  // namespace recon

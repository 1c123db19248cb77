#pragma once

#include "methods/stereo/pair_depth.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

/// The depth of a view from the rectified pairs that are planned for it.
/// @throws InputError when a photo cannot be read, OutOfMemory, DeviceError
ViewDepth estimate_from_pairs(SceneRun& run, Backend& backend, int view);

}  // namespace recon

#pragma once

#include <vector>

#include "session/scene/scene_run.hpp"

namespace recon {

/// The mask of a view, in the pixels of its photo: 0 where it is ignored.
/// @throws InputError when the file cannot be read or has another size than the photo
Image<std::uint8_t> read_mask(const SceneRun& run, const View& view, const Camera& camera);

/// Reads the masks of all views of `run.scene`: notes their hashes, and removes observations of ignored
/// pixels from the tracks of their points. A point that loses all of them is removed.
/// @returns the views whose mask cannot be used
/// @throws Interrupted
std::vector<LeftOut> read_masks(SceneRun& run);

}  // namespace recon

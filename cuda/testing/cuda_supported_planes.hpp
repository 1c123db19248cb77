#pragma once

#include <vector>

#include "cuda/match/sweep.hpp"
#include "optimize/patch_match/supported_planes.hpp"

namespace recon::cuda {

/// fill_supported_planes on a GPU; memory is poisoned before.
/// @throws DeviceUnavailable, DeviceError, OutOfMemory
void fill_supported_planes(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                           const std::vector<WarpedImage>& sources, const InverseRange& range,
                           SourceStorage storage, int device = 0);

}  // namespace recon::cuda

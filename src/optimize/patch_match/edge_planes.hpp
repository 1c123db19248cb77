#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "optimize/patch_match/edge_planes_step.hpp"

namespace recon {

/// The states with depth edges moved to where the photo has them, see edge_state. Deterministic for any
/// number of threads.
/// @param states     of the reference's pixels
/// @param reference  of the same size
/// @param range      of the inverse depths
/// @throws OutOfMemory
Image<PatchState> with_moved_edges(ImageView<PatchState> states, const EdgeImage& reference,
                                   const InverseRange& range);

}  // namespace recon

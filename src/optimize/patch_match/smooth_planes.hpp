#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "optimize/patch_match/smooth_planes_step.hpp"

namespace recon {

/// The planes that the pixels around those of a row agree on, see agreed_plane. Deterministic: the same bits
/// on every processor.
/// @param reference  grey, of the size of the states
/// @param range      of the inverse depths
/// @param units      of the pixels of the row, inverse depth a pixel of parallax
/// @param planes     receives a plane for each pixel of the row
void agreed_planes(const PatchStates& states, ImageView<const std::uint8_t> reference,
                   const InverseRange& range, int y, const float* units, SlantedPlane* planes);

}  // namespace recon

#pragma once

#include "fuse/agreement.hpp"
#include "fuse/holes.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// Removes islands from checked maps: regions that are small and that hardly more than two views see, as
/// specks in the air are. Pixels of a row or column belong to one region if no known pixel lies between them,
/// they are at most 10 pixels apart and their depths differ by at most 2 %, so that fragments of one surface
/// count together. An island has an area below 4e-4 f^2 (f: the focal length, so that the limit does not
/// depend on the resolution), and at least two sources agree on fewer than 0.3 of its pixels. Deterministic.
///
/// @param[in,out] maps  of the view
/// @param agreement  what its sources say of the depths, see count_agreement
/// @param min_size  regions of fewer pixels are removed, whoever sees them; 0: none
void remove_islands(const CheckedMaps& maps, ImageView<const Agreement> agreement, const Pinhole& camera,
                    int min_size);

}  // namespace recon

#pragma once

#include "match/cpu_sweep.hpp"
#include "match/warp_step.hpp"

namespace recon {

/// A rectangle of reference pixels that has all those of `tile` whose samples on a plane lie inside a source,
/// as `sample_position` has it, and few others; its width and height are 0 where there are none. The source's
/// four borders and what lies behind it are lines in the reference, which cut the tile to a convex polygon.
/// @param w  inverse depth of the plane
/// @param width, height  of the source in pixels
Tile seen_part(const SourceWarp& warp, float w, const Tile& tile, int width, int height);

}  // namespace recon

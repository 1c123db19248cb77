#pragma once

#include "match/posed_image.hpp"
#include "match/warp_step.hpp"

namespace recon {

/// The warp from a reference view into a source view, computed in double precision and rounded once to float.
SourceWarp make_source_warp(const Pinhole& reference, const Pose& reference_from_world, const Pinhole& source,
                            const Pose& source_from_world);

/// `count` >= 2 planes between `near` and `far`, 0 < near < far.
PlaneSet make_plane_set(double near, double far, int count);

}  // namespace recon

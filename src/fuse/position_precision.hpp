#pragma once

#include "fuse/fusion.hpp"

namespace recon {

/// Whether single precision suffices for the positions of a view's points: rounding to floats moves none by
/// more than a tenth of the distance to its neighbours. It does not suffice for coordinates far from the
/// origin, such as those of a map projection. Testing the min depth suffices, since the distance between
/// points grows faster with the depth than the coordinates.
/// @param near     min depth of the points, scene units, > 0
/// @param spacing  spacing of the points of a view, pixels
bool floats_suffice(const FusionView& view, double near, int spacing);

}  // namespace recon

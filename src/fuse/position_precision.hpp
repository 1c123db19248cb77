#pragma once

#include "fuse/fusion.hpp"

namespace recon {

/// Whether single precision is enough for the positions of the points that a view gives to the cloud: rounded
/// to floats, none moves by more than a tenth of the distance to its neighbours. It is not in coordinates far
/// from the origin, such as those of a map projection. What the nearest depth fixes holds for all others, as
/// the distance between points grows with the depth faster than the coordinates do.
/// @param near     least depth of the points, scene units, > 0
/// @param spacing  pixels between the points of a view
bool floats_suffice(const FusionView& view, double near, int spacing);

}  // namespace recon

#pragma once

#include "methods/backend.hpp"

namespace recon::reference {

/// The cost of one sample of a plane sweep, implemented from the textbook, in double precision and without
/// any shared code: the pixel's ray intersects the plane at depth `z`, the point is projected into each
/// source, windows are sampled pixel by pixel, and the costs of the sources are sorted. As in the definition
/// of the sweep, sample positions are rounded to 1/256 pixel and samples to integer grey levels.
/// @returns the cost before it is rounded to a half; infinity if no source sees the sample
double sample_cost(const SweepProblem& problem, int x, int y, double z);

}  // namespace recon::reference

#pragma once

#include "methods/backend.hpp"

namespace recon::reference {

/// The cost of one sample of a plane sweep written down from the textbook, in double precision and without
/// any shared code: the pixel's ray meets the plane at depth `z`, the point is projected into each source,
/// windows are taken sample by sample, and the costs of the sources are sorted. Sample positions are rounded
/// to 1/256 pixel and samples to whole grey levels, as the definition of the sweep says.
/// @returns the cost before it is rounded to a half; infinity where no source sees the sample
double sample_cost(const SweepProblem& problem, int x, int y, double z);

}  // namespace recon::reference

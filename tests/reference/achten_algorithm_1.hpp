#pragma once

#include "core/image.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon::reference {

/// The plane sweep as in Algorithm 1 of E. Achten (2025), single thread: for every source, every pixel and
/// every plane, the pixel is projected in double precision, and the absolute differences over the window
/// around the nearest pixel are summed and divided by the number of pixels that lie in both images; a sample
/// keeps the min mean over the sources. Grey images.
/// @returns per pixel the plane of min cost, -1 if no source sees any sample
Image<int> sweep_algorithm_1(const SweepProblem& problem);

}  // namespace recon::reference

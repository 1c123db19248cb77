#pragma once

#include "core/image.hpp"
#include "methods/backend.hpp"

namespace recon::reference {

/// The plane sweep as Algorithm 1 of E. Achten (2025) writes it, single thread: for every source, every pixel
/// and every plane, the pixel is projected in double precision, and the absolute differences over the window
/// around the nearest pixel are summed anew and divided by the number of pixels that lie in both images; a
/// sample keeps the least mean over the sources. Grey images.
/// @returns per pixel the plane of least cost, -1 where no source sees any sample
Image<int> sweep_algorithm_1(const SweepProblem& problem);

}  // namespace recon::reference

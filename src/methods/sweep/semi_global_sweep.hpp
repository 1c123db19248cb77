#pragma once

#include "methods/backend.hpp"

namespace recon {

/// Sweeps a view and selects planes by the semi-global optimizer, block by block of the view (see
/// sweep_blocks), on the threads of the surrounding task arena. Sources: H. Hirschmueller, TPAMI 2008; over a
/// sweep: C. Haene et al., 3DV 2014.
/// @throws OutOfMemory
DepthEstimate semi_global_sweep(const SweepProblem& problem);

/// Bytes that semi_global_sweep uses, excluding the sources, the result and the tiles of the sweep.
std::size_t semi_global_sweep_bytes(int width, int height, int planes, const SweepPaths& paths, int threads);

}  // namespace recon

#pragma once

#include "cuda/methods/stereo/pair_workspace.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// The method that the options name, on the current device.
DisparityMap match_pair(const PairProblem& problem, PairWorkspace& workspace);

/// Bytes of device memory that `match_pair` takes.
std::size_t match_pair_bytes(int width, int height, const PairOptions& options);

}  // namespace recon::cuda

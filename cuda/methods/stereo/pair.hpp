#pragma once

#include "cuda/methods/stereo/pair_workspace.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// Matches with the method of the options, on the current device.
DisparityMap match_pair(const PairProblem& problem, PairWorkspace& workspace);

/// Bytes of device memory of `match_pair`.
std::size_t match_pair_bytes(int width, int height, const PairOptions& options);

}  // namespace recon::cuda

#pragma once

#include "cuda/methods/pair_workspace.hpp"
#include "methods/pair.hpp"

namespace recon::cuda {

/// The same as recon::chain_matching, on the current device, for chains that runs_on_gpu holds for. Costs,
/// paths and refinement have the same bits, the means of the aggregation those of its own header: where these
/// are exact the maps are equal.
/// @throws std::logic_error where sizes or options are not what they have to be; OutOfMemory, DeviceError
DisparityMap chain_matching(const PairProblem& problem, PairWorkspace& workspace);

/// Bytes of device memory that the call takes.
std::size_t chain_matching_bytes(int width, int height, const PairOptions& options);

}  // namespace recon::cuda

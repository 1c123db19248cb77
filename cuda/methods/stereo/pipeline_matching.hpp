#pragma once

#include "cuda/methods/stereo/pair_workspace.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// The same as recon::pipeline_matching, on the current device, for pipelines that runs_on_gpu holds for.
/// Costs, paths and refinement have the same bits, the means of the aggregation those of its own header:
/// where these are exact the maps are equal.
/// @throws std::logic_error where sizes or options are not what they have to be; OutOfMemory, DeviceError
DisparityMap pipeline_matching(const PairProblem& problem, PairWorkspace& workspace);

/// Bytes of device memory that the call takes.
std::size_t pipeline_matching_bytes(int width, int height, const PairOptions& options);

}  // namespace recon::cuda

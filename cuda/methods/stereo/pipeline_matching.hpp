#pragma once

#include "cuda/methods/stereo/pair_workspace.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// The same as recon::pipeline_matching, on the current device, for pipelines for which runs_on_gpu is true.
/// Costs, paths and refinement are bit-identical; the means of the aggregation are as accurate as its header
/// states: where these are exact, the maps are equal.
/// @throws std::logic_error if sizes or options are invalid; OutOfMemory, DeviceError
DisparityMap pipeline_matching(const PairProblem& problem, PairWorkspace& workspace);

/// Bytes of device memory of the call.
std::size_t pipeline_matching_bytes(int width, int height, const PairOptions& options);

}  // namespace recon::cuda

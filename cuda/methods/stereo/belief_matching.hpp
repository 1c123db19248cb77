#pragma once

#include "cuda/methods/stereo/pair_workspace.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// Bit-identical to recon::belief_matching, on the current device.
/// @throws OutOfMemory, DeviceError
DisparityMap belief_matching(const PairProblem& problem, PairWorkspace& workspace);

/// Bytes of device memory of the call.
std::size_t belief_matching_bytes(int width, int height, const PairOptions& options);

}  // namespace recon::cuda

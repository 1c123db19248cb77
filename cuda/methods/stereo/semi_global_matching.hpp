#pragma once

#include "cuda/methods/stereo/pair_workspace.hpp"
#include "methods/stereo/pair.hpp"

namespace recon::cuda {

/// Bit-identical to recon::semi_global_matching, on the current device.
/// @throws OutOfMemory, DeviceError
DisparityMap semi_global_matching(const PairProblem& problem, PairWorkspace& workspace);

/// Bytes of device memory of the call.
std::size_t semi_global_matching_bytes(int width, int height, const PairOptions& options);

}  // namespace recon::cuda

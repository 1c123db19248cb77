#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/methods/sweep/patch_match.hpp"
#include "optimize/patch_match/edge_planes_step.hpp"

namespace recon::cuda {

/// Depth, cost and confidence of the pixels with moved edges, see edge_state. @throws DeviceError
/// @param args     of the finest level
/// @param inside   scratch, one byte a pixel
/// @param results  by (y, x) without padding; none shares memory with the states
void launch_edge_depths(const PatchArgs& args, std::uint8_t* inside, float* const (&results)[3],
                        cudaStream_t stream);

}  // namespace recon::cuda

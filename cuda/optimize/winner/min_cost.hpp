#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Queues the min-cost disparity of each pixel, the lowest one on ties; NaN if all costs are infinite.
/// @param[out] disparity  min_disparity + plane, rows without padding
/// @throws DeviceError
void queue_min_cost(const DeviceVolume& costs, int min_disparity, float* disparity, cudaStream_t stream);

}  // namespace recon::cuda

#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/volume.hpp"
#include "cuda/optimize/semi_global/plane_bytes.hpp"

namespace recon::cuda {

/// Rounds costs to integers, see whole_cost, in the layout of the semi-global optimizer.
/// @throws DeviceError
void launch_whole_costs(const DeviceVolume& costs, float steps, int max, const QuantizedCosts& quantized,
                        cudaStream_t stream);

}  // namespace recon::cuda

#pragma once

#include <cuda_runtime_api.h>

#include "aggregate/cost_unit_step.hpp"
#include "cuda/aggregate/device_volume.hpp"

namespace recon::cuda {

/// As queue_constant_window, for windows of any size; `radius` at most the longer side of the image.
void queue_wide_window(const DeviceVolume& costs, int radius, CostUnit unit, const DeviceVolume& aggregated,
                       cudaStream_t stream);

}  // namespace recon::cuda

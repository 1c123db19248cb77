#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Queues recon::adjust_discontinuities; maps without padding, of the size of the volume; `adjusted` must not
/// be `disparity`. The results are equal. @throws DeviceError
void queue_adjustment(const float* disparity, const DeviceVolume& costs, int min, float* adjusted,
                      cudaStream_t stream);

/// Queues recon::enhance_subpixel, likewise, in place. @throws DeviceError
void queue_enhancement(float* disparity, const DeviceVolume& costs, int min, cudaStream_t stream);

}  // namespace recon::cuda

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

/// Queues the sub-pixel step of the semi-global optimizer: a disparity takes the value of its pixel in
/// `subpixel` if that is at most half a pixel away. Maps without padding. @throws DeviceError
void queue_take_subpixel(const float* subpixel, float* disparity, int width, int height, cudaStream_t stream);

}  // namespace recon::cuda

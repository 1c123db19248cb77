#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Queues recon::adjust_discontinuities. The results are equal.
/// @param disparity      pixels, NaN: unknown; of the size of the volume, rows without padding
/// @param costs          (y, d, x), infinite: no cost
/// @param min            disparity of plane 0
/// @param[out] adjusted  of the same shape; not `disparity`
/// @throws DeviceError
void queue_adjustment(const float* disparity, const DeviceVolume& costs, int min, float* adjusted,
                      cudaStream_t stream);

/// Queues recon::enhance_subpixel. The results are equal.
/// @param disparity  changed in place; otherwise as above
/// @throws DeviceError
void queue_enhancement(float* disparity, const DeviceVolume& costs, int min, cudaStream_t stream);

/// Queues the sub-pixel step of the semi-global optimizer: a disparity takes the value of its pixel in
/// `subpixel` if that is at most half a pixel away.
/// @param disparity  changed in place; both maps `width` x `height`, rows without padding
/// @throws DeviceError
void queue_take_subpixel(const float* subpixel, float* disparity, int width, int height, cudaStream_t stream);

}  // namespace recon::cuda

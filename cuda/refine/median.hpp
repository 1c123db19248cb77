#pragma once

#include <cuda_runtime_api.h>

#include "refine/disparity_bounds.hpp"

namespace recon::cuda {

/// Queues recon::median_3x3 of a map with unknown values (NaN); the results are equal.
/// @param map          `width` x `height`, rows without padding
/// @param[out] median  of the same shape; not `map`
/// @throws DeviceError
void launch_median_3x3(const float* map, int width, int height, float* median, cudaStream_t stream);

/// Queues recon::smoothed_disparities; the results are equal.
/// @param map          `width` x `height`, rows without padding
/// @param[out] smooth  of the same shape; not `map`
/// @throws DeviceError
void launch_smoothing(const float* map, int width, int height, const DisparityBounds& bounds, float* smooth,
                      cudaStream_t stream);

}  // namespace recon::cuda

#pragma once

#include <cuda_runtime_api.h>

namespace recon::cuda {

/// The same as recon::median_3x3, on images without row padding; `median` must not be `map`.
/// @throws DeviceError
void launch_median_3x3(const float* map, int width, int height, float* median, cudaStream_t stream);

}  // namespace recon::cuda

#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/grid.hpp"

namespace recon::cuda {

/// Allows launches of `kernel` to use all the dynamic shared memory that the current device offers a thread
/// block. The limit is not that of the next launch: another host thread may set a lower one before it.
/// @throws DeviceError
template <class Kernel>
void allow_shared_memory(Kernel kernel) {
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  cudaFuncAttributes attributes{};
  RECON_CUDA_TRY(cudaFuncGetAttributes(&attributes, kernel));
  RECON_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      most - static_cast<int>(attributes.sharedSizeBytes)));
}

}  // namespace recon::cuda

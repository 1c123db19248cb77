#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "cuda/methods/stereo/block_device.hpp"

namespace recon::cuda {

/// Attribute of the current device. @throws DeviceError
int device_attribute(cudaDeviceAttr which);

/// The best tiling of a level for the current device; values set in `asked` are kept.
/// @param warps_for  number of resident warps per multiprocessor with tiles of that width; may be 0
BlockTiling chosen_tiling(const DeviceBlock& block, BlockTiling asked,
                          const std::function<int(int tile_width)>& warps_for);

}  // namespace recon::cuda

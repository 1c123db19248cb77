#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "cuda/methods/stereo/block_device.hpp"

namespace recon::cuda {

/// Of the current device. @throws DeviceError
int device_attribute(cudaDeviceAttr which);

/// How the search of a level is best cut for the current device; what is asked for stays as it is.
/// @param warps_for  how many warps with tiles of that width a multiprocessor holds; 0: not one
BlockTiling chosen_tiling(const DeviceBlock& block, BlockTiling asked,
                          const std::function<int(int tile_width)>& warps_for);

}  // namespace recon::cuda

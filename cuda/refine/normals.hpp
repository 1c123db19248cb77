#pragma once

#include <cuda_runtime_api.h>

#include "core/vec.hpp"
#include "scene/pinhole.hpp"

namespace recon::cuda {

/// The same as recon::normals_from_depth, on images of the camera's size without row padding.
/// @throws DeviceError
void launch_normals(const float* depth, const Pinhole& camera, Vec3f* normals, cudaStream_t stream);

/// The same as recon::mean_normals, on images of this size without row padding.
/// @throws DeviceError
void launch_mean_normals(const float* depth, const Vec3f* normals, int width, int height, Vec3f* means,
                         cudaStream_t stream);

}  // namespace recon::cuda

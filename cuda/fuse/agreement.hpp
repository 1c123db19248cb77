#pragma once

#include <cuda_runtime_api.h>

#include "fuse/agreement_step.hpp"

namespace recon::cuda {

/// The maps of a view in device memory, rows concatenated.
struct DeviceMaps {
  float* depth;
  Vec3f* normal;
  Agreement* counts;  ///< what sources say of the view
  int width, height;
};

/// Adds what `source` says of every depth of `reference` to the counts of that.
/// @throws DeviceError
void launch_agreement(const AgreementGeometry& geometry, const DeviceMaps& reference,
                      const DeviceMaps& source, cudaStream_t stream);

}  // namespace recon::cuda

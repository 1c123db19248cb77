#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "match/cross_arms_step.hpp"

namespace recon::cuda {

/// A colour image on the device.
struct DeviceColours {
  const Rgb8* pixels = nullptr;
  std::ptrdiff_t pitch = 0;  ///< pixels
  int width = 0, height = 0;
};

/// Queues recon::cross_arms; the results are equal.
/// @param crosses  of the image's size, aligned to 4 bytes
/// @param pitch    crosses from one row to the next
/// @throws std::logic_error if an option is out of range; DeviceError
void queue_cross_arms(const DeviceColours& image, const CrossOptions& options, Cross* crosses,
                      std::ptrdiff_t pitch, cudaStream_t stream);

}  // namespace recon::cuda

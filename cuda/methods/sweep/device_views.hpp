#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "methods/device_memory.hpp"

/// Between the images of callers in device memory and those of a sweep.

namespace recon::cuda {

/// Where a sweep reads an image of a caller.
struct ViewTarget {
  std::uint8_t* channel[3] = {};  ///< grey alone, or red, green and blue
  std::ptrdiff_t pitch = 0;       ///< bytes
  Rgb8* colours = nullptr;        ///< rows without padding; null: nobody reads them
};

/// Queues the copy of an image. Grey of colours is luma; a colour of grey has three equal channels.
/// @throws DeviceError
void launch_import_view(const DevicePixels& from, const ViewTarget& to, cudaStream_t stream);

/// Queues recon::halved; the results are equal.
/// @param pitch, half_pitch  bytes
/// @throws DeviceError
void launch_halved(const std::uint8_t* pixels, std::ptrdiff_t pitch, int width, int height,
                   std::uint8_t* half, std::ptrdiff_t half_pitch, cudaStream_t stream);

}  // namespace recon::cuda

#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "match/transform_options.hpp"

namespace recon::cuda {

/// A grey image on the device; `pixels` are of 8 or 16 bits.
struct DeviceGrey {
  const void* pixels;
  bool words;
  std::ptrdiff_t pitch;  ///< pixels
  int width, height;
};

/// Bytes per transformed pixel.
inline int code_bytes(Transform transform) {
  return transform == Transform::kCensus9x7 ? 8 : 4;
}

/// Transforms an image, see match/transform_step.hpp.
/// @param codes  code_bytes(...) per pixel, rows without padding
/// @throws DeviceError
void launch_transform(const DeviceGrey& image, const TransformOptions& options, void* codes,
                      cudaStream_t stream);

/// The pair whose costs are computed.
struct TransformedPair {
  const void *left, *right;
  int width, height;
  int min_disparity, count;
  int outside_cost;  ///< cost of a disparity whose pixel lies outside the right image
};

/// The costs by (y, x, plane_byte(d)), `stride` bytes per pixel, a multiple of 16; the padding is
/// overwritten.
/// @throws DeviceError
void launch_transform_costs(const TransformedPair& pair, Transform transform, std::uint8_t* costs, int stride,
                            cudaStream_t stream);

}  // namespace recon::cuda

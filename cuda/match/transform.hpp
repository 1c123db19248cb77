#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/device/volume.hpp"
#include "match/pair_side.hpp"
#include "match/transform_step.hpp"

namespace recon::cuda {

/// A grey image on the device; `pixels` are of 8 or 16 bits.
struct DeviceGrey {
  const void* pixels;
  bool words;
  std::ptrdiff_t pitch;  ///< pixels
  int width, height;
};

/// Bytes per transformed pixel.
inline std::size_t transformed_bytes(Transform transform) {
  return transform == Transform::kCensus9x7 ? 8 : 4;
}

/// Transforms an image, see match/transform_step.hpp.
/// @param transformed  transformed_bytes(...) per pixel, rows without padding
/// @throws DeviceError
void launch_transform(const DeviceGrey& image, const TransformOptions& options, void* transformed,
                      cudaStream_t stream);

/// The pair whose costs are computed.
struct TransformedPair {
  const void *left, *right;
  int width, height;
  int min_disparity, count;
  int outside_cost;  ///< cost of a disparity whose match lies outside the other image
};

/// The costs by (y, x, plane_byte(d)), `stride` bytes per pixel, a multiple of 16; the padding is
/// overwritten.
/// @throws DeviceError
void launch_transform_costs(const TransformedPair& pair, Transform transform, std::uint8_t* costs, int stride,
                            cudaStream_t stream);

/// The costs of one view by (y, d, x) as floats: the same for both views' pixels that match;
/// `pair.outside_cost` where the match lies outside the other view.
/// @param costs  of the pair's size, with `pair.count` planes; overwritten completely
/// @throws DeviceError
void launch_transform_volume(const TransformedPair& pair, Transform transform, PairSide side,
                             const DeviceVolume& costs, cudaStream_t stream);

}  // namespace recon::cuda

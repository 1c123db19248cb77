#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/device/memory.hpp"
#include "cuda/device/volume.hpp"
#include "match/pair_side.hpp"
#include "match/transform_step.hpp"

namespace recon::cuda {

/// A grey image on the device.
struct DeviceGrey {
  const void* pixels;
  bool words;            ///< the pixels have 16 bits; otherwise 8
  std::ptrdiff_t pitch;  ///< pixels from one row to the next
  int width, height;     ///< pixels
};

/// Takes the memory of a transformed image without padding.
inline std::byte* take_transformed(Transform transform, std::size_t pixels, Arena& arena) {
  const bool words = transform == Transform::kCensus9x7 || transform == Transform::kScaledCensus;
  return arena.take<std::byte>(pixels * (words ? sizeof(std::uint64_t) : sizeof(std::uint32_t)));
}

/// Queues the transform of an image, see match/transform_step.hpp.
/// @param bytes             the same image with 8 bits and rows without padding, for a scaled census
/// @param[out] transformed  rows without padding, see take_transformed
/// @throws DeviceError
void launch_transform(const DeviceGrey& image, const std::uint8_t* bytes, const TransformOptions& options,
                      void* transformed, cudaStream_t stream);

/// The pair whose costs are computed, on the device.
struct TransformedPair {
  const void *left, *right;  ///< as from launch_transform
  int width, height;         ///< pixels, of both
  int min_disparity, count;  ///< those searched: min <= d < min + count, pixels
  int outside_cost;          ///< of a disparity whose match lies outside the other image: 0 .. 255
};

/// Queues the costs of the left view as bytes: differing bits of a census, or ranks.
/// @param[out] costs  by (y, x, plane_byte(d)); the padding of a pixel is overwritten
/// @param stride      bytes per pixel, a multiple of 16, at least `pair.count`
/// @throws DeviceError
void launch_transform_costs(const TransformedPair& pair, Transform transform, std::uint8_t* costs, int stride,
                            cudaStream_t stream);

/// Queues the costs of one view as floats: the same for both views' pixels that match; `pair.outside_cost`
/// where the match lies outside the other view.
/// @param side        the view
/// @param[out] costs  (y, d, x), of the pair's size, with `pair.count` planes; overwritten completely
/// @throws DeviceError
void launch_transform_volume(const TransformedPair& pair, Transform transform, PairSide side,
                             const DeviceVolume& costs, cudaStream_t stream);

}  // namespace recon::cuda

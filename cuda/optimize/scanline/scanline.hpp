#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/device/volume.hpp"
#include "match/pair_side.hpp"
#include "optimize/scanline/scanline_options.hpp"

namespace recon::cuda {

/// Queues where steps cross an edge of an image, 1 or 0: an image of the steps from the pixel to the left,
/// and one of those from the pixel above; images without padding.
/// @param[out] edges  twice as many as the image has pixels
/// @throws DeviceError
void queue_edges(const Rgb8* pixels, int width, int height, int threshold, std::uint8_t* edges,
                 cudaStream_t stream);

/// What the scanline optimisation looks at beside the costs; images without padding, as queue_edges makes
/// them, of the volume's size.
struct ScanlineEdges {
  const std::uint8_t* reference;
  const std::uint8_t* other;  ///< null: there is no other view
  PairSide side;              ///< the view that the volume belongs to
  int min_disparity;
};

/// The most planes.
inline constexpr int kMaxScanlinePlanes = 4096;

/// Queues recon::optimize_scanlines; the same bits.
/// @param costs      C_1, not negative, finite or +infinity (no cost)
/// @param[out] mean  C_2, of the same shape and apart from `costs`; the padding of its rows may be written
/// @throws std::logic_error where options are not what they have to be, or planes are too many; DeviceError
void queue_scanlines(const DeviceVolume& costs, const ScanlineEdges& edges, const ScanlineOptions& options,
                     const DeviceVolume& mean, cudaStream_t stream);

}  // namespace recon::cuda

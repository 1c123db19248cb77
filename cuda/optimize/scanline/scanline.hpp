#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/device/volume.hpp"
#include "match/pair_side.hpp"
#include "optimize/scanline/scanline_step.hpp"

namespace recon::cuda {

/// Queues the edges that steps cross, 1 or 0: an image of the steps from the pixel to the left, and one of
/// those from the pixel above.
/// @param pixels      `width` x `height`, rows without padding
/// @param threshold   min colour difference of an edge, grey levels
/// @param[out] edges  the two images, rows without padding
/// @throws DeviceError
void queue_edges(const Rgb8* pixels, int width, int height, int threshold, std::uint8_t* edges,
                 cudaStream_t stream);

/// Inputs of the scanline optimization other than the costs; images without padding, as from queue_edges, of
/// the size of the volume.
struct ScanlineEdges {
  const std::uint8_t* reference;  ///< of the view that the volume belongs to
  const std::uint8_t* other;      ///< of the other view; null: no source
  PairSide side;                  ///< the view that the volume belongs to
  int min_disparity;              ///< of plane 0, pixels
};

/// Max number of planes.
inline constexpr int kMaxScanlinePlanes = 4096;

/// Queues recon::optimize_scanlines; bit-identical. Source: X. Mei et al. 2011, section 3.3.
/// @param costs      C_1 by (y, d, x), not negative, finite or +infinity (no cost)
/// @param[out] mean  C_2, of the same shape, not overlapping `costs`; the padding of its rows may be written
/// @throws std::logic_error if options are invalid or there are too many planes; DeviceError
void queue_scanlines(const DeviceVolume& costs, const ScanlineEdges& edges, const ScanlineOptions& options,
                     const DeviceVolume& mean, cudaStream_t stream);

}  // namespace recon::cuda

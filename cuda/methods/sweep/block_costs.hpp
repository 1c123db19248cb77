#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/device/volume.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "match/warp_step.hpp"
#include "optimize/winner/winner_step.hpp"

namespace recon::cuda {

/// A range of rows and planes of a block (tile of a view) of a sweep.
struct BlockPiece {
  int row = 0, rows = 0;      ///< the first one, and their number
  int plane = 0, planes = 0;  ///< likewise
};

/// Converts the costs of a piece, half bits at `volume` by (row, d, x), rows `pitch` elements apart, to
/// floats in the volume of the block.
/// @throws DeviceError
void launch_block_costs(const std::uint16_t* volume, std::ptrdiff_t pitch, const BlockPiece& piece,
                        const DeviceVolume& costs, cudaStream_t stream);

/// Composes a colour image, rows without padding, from three channels or from a grey one given three times.
/// @param pitch  bytes from one row of a channel to the next
/// @throws DeviceError
void launch_block_colours(const std::uint8_t* const (&channel)[3], std::ptrdiff_t pitch, int width,
                          int height, Rgb8* colours, cudaStream_t stream);

/// Depth, cost and confidence of the min-cost plane of every pixel (see winner_depth): three consecutive
/// images, rows `pitch` floats apart.
/// @throws DeviceError
void launch_block_winners(const DeviceVolume& costs, const PlaneSet& planes, float* results,
                          std::ptrdiff_t pitch, cudaStream_t stream);

/// The same for a piece of a view, from half bits at `volume` by (row, d, x), rows `volume_pitch` elements
/// apart; written after its last range of planes.
/// @param scans  the state of every pixel between two ranges, rows `pitch` elements apart; null if there is
///               one range
/// @throws DeviceError
void launch_piece_winners(const std::uint16_t* volume, std::ptrdiff_t volume_pitch, const BlockPiece& piece,
                          int width, const PlaneSet& planes, WinnerScan* scans, float* results,
                          std::ptrdiff_t pitch, cudaStream_t stream);

/// Moves edges to lower costs (see adjusted_depth).
/// @param results  as above, changed in place
/// @param depths   space for one of the three images
/// @throws DeviceError
void launch_block_edges(const DeviceVolume& costs, const PlaneSet& planes, float* results, float* depths,
                        std::ptrdiff_t pitch, cudaStream_t stream);

/// Quantizes the costs of a piece, half bits in `volume` by (row, d, x), rows `pitch` elements apart.
/// @param cap  see quantized_cost
/// @throws DeviceError
void launch_quantized_costs(const std::uint16_t* volume, std::ptrdiff_t pitch, const BlockPiece& piece,
                            const QuantizedCosts& quantized, float cap, cudaStream_t stream);

/// Quantizes the costs of the whole block.
/// @throws DeviceError
void launch_quantized_costs(const DeviceVolume& costs, const QuantizedCosts& quantized, float cap,
                            cudaStream_t stream);

/// Depth, cost and confidence of every pixel of the block (see semi_global_depth): three consecutive images,
/// rows `pitch` floats apart.
/// @throws DeviceError
void launch_path_depth(const PathWinner* winners, const QuantizedCosts& quantized, float cap,
                       const PlaneSet& planes, float* results, std::ptrdiff_t pitch, cudaStream_t stream);

}  // namespace recon::cuda

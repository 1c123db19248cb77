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

// Blocks are parts of a view that is swept. Results are three consecutive images, depth (scene units, NaN:
// unknown), cost and confidence, with rows `pitch` floats apart.

/// Converts the costs of a piece, bits of halves, to floats in the volume of the block.
/// @throws DeviceError
void launch_block_costs(const CostPiece<std::uint16_t>& piece, const DeviceVolume& costs,
                        cudaStream_t stream);

/// Composes a colour image, rows without padding, from three channels or from a grey one given three times.
/// @param pitch  bytes from one row of a channel to the next
/// @throws DeviceError
void launch_block_colours(const std::uint8_t* const (&channel)[3], std::ptrdiff_t pitch, int width,
                          int height, Rgb8* colours, cudaStream_t stream);

/// The results of the min-cost plane of every pixel, see winner_depth.
/// @throws DeviceError
void launch_block_winners(const DeviceVolume& costs, const PlaneSet& planes, float* results,
                          std::ptrdiff_t pitch, cudaStream_t stream);

/// The same for a piece, whose rows are those of the results; written after its last range of planes.
/// @param width  pixels
/// @param scans  the state of every pixel between two ranges, rows `pitch` elements apart; null if there is
///               one range
/// @throws DeviceError
void launch_piece_winners(const CostPiece<std::uint16_t>& piece, int width, const PlaneSet& planes,
                          WinnerScan* scans, float* results, std::ptrdiff_t pitch, cudaStream_t stream);

/// Moves edges to lower costs (see adjusted_depth).
/// @param results  changed in place
/// @param depths   space for one of the three images
/// @throws DeviceError
void launch_block_edges(const DeviceVolume& costs, const PlaneSet& planes, float* results, float* depths,
                        std::ptrdiff_t pitch, cudaStream_t stream);

/// Quantizes the costs of a piece, or of the whole block.
/// @param cap  see quantized_cost
/// @throws DeviceError
void launch_quantized_costs(const CostPiece<std::uint16_t>& piece, const QuantizedCosts& quantized, float cap,
                            cudaStream_t stream);
void launch_quantized_costs(const DeviceVolume& costs, const QuantizedCosts& quantized, float cap,
                            cudaStream_t stream);

/// The results of the winners of the semi-global optimizer, see semi_global_depth.
/// @param winners  rows without padding
/// @throws DeviceError
void launch_path_depth(const PathWinner* winners, const QuantizedCosts& quantized, float cap,
                       const PlaneSet& planes, float* results, std::ptrdiff_t pitch, cudaStream_t stream);

}  // namespace recon::cuda

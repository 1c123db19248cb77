#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/methods/sweep/block_costs.hpp"
#include "cuda/optimize/semi_global/plane_bytes.hpp"
#include "match/warp_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

namespace recon::cuda {

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

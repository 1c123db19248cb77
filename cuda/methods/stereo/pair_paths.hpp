#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/device/volume.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"
#include "methods/stereo/winner_disparity.hpp"

/// Costs into the semi-global optimizer, and disparities out of it or out of costs.

namespace recon::cuda {

/// Rounds costs to integers, see whole_cost, in the layout of the semi-global optimizer.
/// @throws DeviceError
void launch_whole_costs(const DeviceVolume& costs, float steps, int max, const QuantizedCosts& quantized,
                        cudaStream_t stream);

/// Queues the min-cost disparity of each pixel, the lowest one on ties; NaN if all costs are infinite.
/// @param[out] disparity  min_disparity + plane, rows without padding
/// @throws DeviceError
void queue_min_cost(const DeviceVolume& costs, int min_disparity, float* disparity, cudaStream_t stream);

/// Inputs of the disparities of a pair, on the device; rows without padding.
struct PairWinners {
  const PathWinner* winners;
  const std::uint32_t* right_keys;  ///< see SemiGlobal::right_keys; null without left-right check
  int width, height;
};

/// recon::winner_disparity for every pixel. @throws DeviceError
void launch_pair_disparity(const PairWinners& winners, const WinnerChecks& checks, int min_disparity,
                           float* disparity, cudaStream_t stream);

}  // namespace recon::cuda

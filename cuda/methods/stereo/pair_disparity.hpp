#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "methods/stereo/semi_global_pair_options.hpp"
#include "optimize/semi_global/path_winner.hpp"

namespace recon::cuda {

/// Inputs of the disparities of a pair, on the device; rows without padding.
struct PairWinners {
  const PathWinner* winners;
  const std::uint32_t* right_keys;  ///< see SemiGlobal::right_keys; null without left-right check
  int width, height;
};

/// recon::winner_disparity for every pixel. @throws DeviceError
void launch_pair_disparity(const PairWinners& winners, const SemiGlobalPairOptions& options,
                           int min_disparity, float* disparity, cudaStream_t stream);

}  // namespace recon::cuda

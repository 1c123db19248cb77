#pragma once

#include <cuda_runtime_api.h>

#include "cuda/optimize/semi_global/path_args.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

namespace recon::cuda {

/// The kernels of the optimizer, in the order in which they run; all throw DeviceError.

/// Computes all paths: each direction into its own volume, or, with kWords, two directions per round.
void launch_paths(const PathArgs& args, const PathVolumes& volumes, cudaStream_t stream);

/// Selects the winners from the sums.
/// @param right_keys  by right pixel: S << 16 | plane of its winner, initialized to all ones; null: not
/// computed
void launch_path_winner(const PathArgs& args, const PathVolumes& volumes, int min_disparity,
                        PathWinner* winners, std::uint32_t* right_keys, cudaStream_t stream);

}  // namespace recon::cuda

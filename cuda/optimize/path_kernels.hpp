#pragma once

#include <cuda_runtime_api.h>

#include "cuda/optimize/path_args.hpp"
#include "optimize/path_winner.hpp"

namespace recon::cuda {

/// The kernels of the optimizer, in the order in which they run; all throw DeviceError.

/// Both directions along the rows.
void launch_path_rows(const PathArgs& args, const RowPaths& paths, cudaStream_t stream);

/// How a sweep is cut up for `planes` planes.
struct SweepShape {
  int strip_width;  ///< pixels
  int slot;         ///< uint4 of the costs of a path at a pixel and their least
  int vector;       ///< uint4 of a pixel's sums
};
SweepShape sweep_shape(int planes);

/// One half of the downward and the upward sweep, see SweepArgs; the first half may run beside the rows.
void launch_path_sweep(const PathArgs& args, const SweepArgs& sweep, cudaStream_t stream);

/// Winners from the sums.
/// @param right_keys  by right pixel: S << 16 | plane of its winner, all bits set before; null: not wanted
void launch_path_winner(const PathArgs& args, const uint4* sums, int min_disparity, PathWinner* winners,
                        std::uint32_t* right_keys, cudaStream_t stream);

}  // namespace recon::cuda

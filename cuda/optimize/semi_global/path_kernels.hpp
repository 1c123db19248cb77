#pragma once

#include <cuda_runtime_api.h>
#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "optimize/semi_global/semi_global_step.hpp"

namespace recon::cuda {

/// Planes per pixel in memory, and processed: 64, 128, 256, 512, 1024 or 4096.
/// @throws std::logic_error if `planes` is not in 1 .. 4096
int path_planes(int planes);

/// The problem, as passed to all kernels of the optimizer.
struct PathArgs {
  const std::uint8_t* costs;  ///< by (y, x, plane_byte(d)), pixels path_planes(planes) bytes apart
  const std::uint8_t* guide;
  std::ptrdiff_t guide_pitch;
  int width, height, planes;
  SemiGlobalOptions options;
};

/// Storage of the path costs.
enum class PathStorage {
  kFewBytes,  ///< one volume per direction, as the costs; the sum of two paths fits in a byte
  kBytes,     ///< the same, but only one path fits
  kWords,     ///< 16-bit sums: of the even and of the odd directions, or in one volume of all
};

/// Consecutive volumes.
struct PathVolumes {
  uint4* first;
  std::ptrdiff_t stride;  ///< 16-byte pieces from one volume to the next
  int count;
  PathStorage storage;
};

/// The kernels of the optimizer, in the order in which they run; all throw DeviceError.

/// Computes all paths: each direction into its own volume, or, with kWords, as many directions
/// per round as there are volumes.
void launch_paths(const PathArgs& args, const PathVolumes& volumes, cudaStream_t stream);

/// Selects the winners from the sums.
/// @param right_keys  by right pixel: S << 16 | plane of its winner, initialized to all ones; null: not
/// computed
void launch_path_winner(const PathArgs& args, const PathVolumes& volumes, int min_disparity,
                        PathWinner* winners, std::uint32_t* right_keys, cudaStream_t stream);

}  // namespace recon::cuda

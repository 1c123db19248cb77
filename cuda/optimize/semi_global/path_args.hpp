#pragma once

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
  kWords,     ///< two volumes of 16-bit sums, of the even and of the odd directions
};

/// Consecutive volumes.
struct PathVolumes {
  uint4* first;
  std::ptrdiff_t stride;  ///< 16-byte pieces from one volume to the next
  int count;
  PathStorage storage;
};

}  // namespace recon::cuda

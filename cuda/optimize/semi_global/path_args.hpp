#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "optimize/semi_global/semi_global_options.hpp"

namespace recon::cuda {

/// What all kernels of the optimizer know of the problem.
struct PathArgs {
  const std::uint8_t* costs;  ///< by (y, x, plane_byte(d)), pixels path_planes(planes) bytes apart
  const std::uint8_t* guide;
  std::ptrdiff_t guide_pitch;
  int width, height, planes;
  SemiGlobalOptions options;
};

/// How the costs of paths lie in memory.
enum class PathStorage {
  kFewBytes,  ///< a volume by direction as the costs are; two paths' costs fit a byte
  kBytes,     ///< the same, but only one path's cost fits
  kWords,     ///< two volumes of sums of 16 bits, of the even and of the odd directions
};

/// Volumes one behind the other.
struct PathVolumes {
  uint4* first;
  std::ptrdiff_t stride;  ///< pieces from one to the next
  int count;
  PathStorage storage;
};

}  // namespace recon::cuda

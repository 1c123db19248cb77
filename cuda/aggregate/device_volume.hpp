#pragma once

#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Volumes are no wider: a row's sums fit a multiprocessor's shared memory.
inline constexpr int kMaxAggregatedWidth = 16384;

}  // namespace recon::cuda

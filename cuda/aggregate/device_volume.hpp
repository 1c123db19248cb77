#pragma once

#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Max width of a volume: the sums of a row fit in the shared memory of a multiprocessor.
inline constexpr int kMaxAggregatedWidth = 16384;

}  // namespace recon::cuda

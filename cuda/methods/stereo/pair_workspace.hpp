#pragma once

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"

namespace recon::cuda {

/// Resources of a call on a pair, reused so that a further call with the same size allocates nothing.
struct PairWorkspace {
  Stream stream;
  Arena arena;
  PinnedBuffer staging;
};

}  // namespace recon::cuda

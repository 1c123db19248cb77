#pragma once

#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"

namespace recon::cuda {

/// What a call on a pair works with; kept from call to call, so that one of the same size allocates nothing.
struct PairWorkspace {
  Stream stream;
  Arena arena;
  PinnedBuffer staging;
};

}  // namespace recon::cuda

#pragma once

#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// One iteration of cross-based aggregation.
struct CrossPass {
  CrossImages arms;
  CrossOrder order;
  DeviceVolume costs, means;  ///< of the same shape, apart from each other
};

/// For arms of any length: sums along one direction are stored, a few planes at a time.
std::size_t cross_by_sums_bytes(int width, int planes, int height);
void queue_cross_by_sums(const CrossPass& pass, std::byte* scratch, cudaStream_t stream);

}  // namespace recon::cuda
